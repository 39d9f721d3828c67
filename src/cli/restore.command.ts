import { resolve } from 'node:path';
import { settingsFile } from '../config/environment.js';
import { loadSettings } from '../config/load-settings.js';
import type { Settings } from '../config/settings.js';
import { restoreStore } from '../storage/sqlite/restore-store.js';
import { SystemRandom } from '../system/random-source.js';
import { CONFIG_OPTION, EXIT, usage, type Given, type Subcommand, type Terminal } from './command.js';
import { SERVER_OPTIONS, operatorCall } from './operator-call.js';

/** The word that stands in the place of a directory; a directory of that name is `./accept`. */
const ACCEPT = 'accept';

export const RESTORE: Subcommand = {
  summary: 'put a backup in the place of the database; `restore accept` goes on with a held store',
  details: `restore DIR checks the backup in DIR (hash, schema, key, root) and puts it into the data directory, while no server runs
on it. The next start holds the store: reads, look-ups and evidence work, nothing is sent.
restore accept --reason TEXT tells the running server to go on with it, which is recorded.`,
  operand: { value: `DIR|${ACCEPT}` },
  options: {
    config: CONFIG_OPTION,
    replace: { type: 'boolean', about: 'with DIR: put a database that is there aside (nothing is deleted)' },
    reason: { type: 'string', value: 'TEXT', about: 'with accept: why this store may be gone on with; recorded' },
    ...SERVER_OPTIONS,
  },
  run: async (given, terminal) => {
    const { environment } = terminal;
    const settings = loadSettings({ file: given.text('config') ?? settingsFile(environment), environment });
    const word = given.operand();
    return word === ACCEPT ? accept(given, settings, terminal) : restore(word, given, settings, terminal);
  },
};

async function restore(from: string, given: Given, settings: Settings, terminal: Terminal): Promise<number> {
  if (['reason', 'url', 'token-file'].some((name) => given.text(name) !== null)) {
    throw usage('--reason, --url and --token-file belong to `restore accept`');
  }
  const { manifest, putAside } = await restoreStore({
    dataDir: settings.dataDir,
    from: resolve(from),
    keys: settings.storage,
    replace: given.flag('replace'),
    random: new SystemRandom(),
    now: Date.now,
  });
  if (putAside !== null) terminal.err(`the database that was there is now ${putAside}\n`);
  terminal.err('the next start holds the store until `countersign restore accept --reason TEXT`\n');
  terminal.out(`restored ${manifest.size} events of ${manifest.createdAt}, root ${manifest.root}\n`);
  return EXIT.done;
}

async function accept(given: Given, settings: Settings, terminal: Terminal): Promise<number> {
  const reason = given.needed('reason');
  if (given.flag('replace')) throw usage('--replace belongs to `restore DIR`');
  const command = { type: 'accept_restore', target: 'store', reason };
  const { commandId } = (await operatorCall(given, settings, '/v1/control', command)) as { readonly commandId: string };
  terminal.out(`accepted: ${commandId}\n`);
  return EXIT.done;
}
