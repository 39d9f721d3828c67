import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SecretListRepresentation } from '../client/contract/secrets.js';
import { isPrivateAddress } from '../client/server-request.js';
import { settingsFile } from '../config/environment.js';
import { loadSettings } from '../config/load-settings.js';
import type { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { newKeyFile } from '../storage/file-key-ring.js';
import { SystemRandom } from '../system/random-source.js';
import { CONFIG_OPTION, EXIT, usage, type Given, type Subcommand, type Terminal } from './command.js';
import { SERVER_OPTIONS, operatorCall, serverUrl } from './operator-call.js';
import type { SecretWork } from './secret-work.js';
import { stoppedSecrets } from './stopped-secrets.js';

const STDIN = 0;

export const SECRET: Subcommand = {
  summary: 'store secrets in the database, encrypted: put, list, retire, rewrap, new-key',
  details: `put NAME       store a new version, from --from-file or stdin (one line break at the end is taken off); prints its reference
list           names, versions and the key-encryption key they lie under; values are never shown
retire NAME@V  take the value of one version out of the database, for ever
rewrap         bring everything under the current key-encryption key (storage.keyFile) now
new-key FILE   make a key-encryption key for a rotation, mode 0400; name the old one in storage.previousKeys
With --token-file the running server does it; its address must be loopback or https. Without it no server may run.`,
  operand: { value: 'put NAME|list|retire NAME@V|rewrap|new-key FILE', least: 1, most: 2 },
  options: {
    config: CONFIG_OPTION,
    'from-file': { type: 'string', value: 'FILE', about: 'with put: where the value is; without it stdin' },
    ...SERVER_OPTIONS,
  },
  run: async (given, terminal) => {
    const [action, object] = given.words;
    if (action === 'new-key') return keyMade(wordOf(object, 'FILE'), terminal);
    const { environment } = terminal;
    const settings = loadSettings({ file: given.text('config') ?? settingsFile(environment), environment });
    const steps = planned(action, object, given);
    if (given.text('token-file') !== null) return steps(ofServer(given, settings), terminal);
    const stopped = await stoppedSecrets(settings, (message) => terminal.err(`${message}\n`));
    try {
      return await steps(stopped, terminal);
    } finally {
      await stopped.close();
    }
  },
};

type Steps = (work: SecretWork, terminal: Terminal) => Promise<number>;

/** What is to be done, with everything read and checked before a store is opened. */
function planned(action: string | undefined, object: string | undefined, given: Given): Steps {
  if (action !== 'put' && given.text('from-file') !== null) throw usage('--from-file belongs to `secret put`');
  switch (action ?? '') {
    case 'put': {
      const name = wordOf(object, 'NAME');
      const value = valueFrom(given.text('from-file'));
      return (work, terminal) => put(work, terminal, name, value);
    }
    case 'retire': {
      const [, name, version] = /^(.+)@([1-9]\d{0,8})$/.exec(wordOf(object, 'NAME@V')) ?? [];
      if (name === undefined || version === undefined) throw usage('retire needs one version, such as payments@2');
      return (work, terminal) => retire(work, terminal, name, Number(version));
    }
    case 'list':
    case 'rewrap':
      if (object !== undefined) throw usage(`${action} takes no further word`);
      return action === 'list' ? list : rewrap;
  }
  throw usage('secret is followed by put, list, retire, rewrap or new-key');
}

async function put(work: SecretWork, { out, err }: Terminal, name: string, value: string): Promise<number> {
  const { version } = await work.put(name, value);
  err(`stored version ${version} of ${name}\n`);
  out(`secret:${name}@${version}\n`);
  return EXIT.done;
}

async function retire(work: SecretWork, { err }: Terminal, name: string, version: number): Promise<number> {
  await work.retire(name, version);
  err(`retired ${name}@${version}: its value is gone\n`);
  return EXIT.done;
}

async function list(work: SecretWork, { out }: Terminal): Promise<number> {
  for (const { name, version, kekId, createdAt, retiredAt } of await work.list()) {
    out(`${name}@${version}\t${createdAt}\t${retiredAt === null ? (kekId ?? '') : `retired ${retiredAt}`}\n`);
  }
  return EXIT.done;
}

async function rewrap(work: SecretWork, { err }: Terminal): Promise<number> {
  const { kekId, keysRewrapped, previousKekIds } = await work.rewrap();
  err(`rewrapped ${keysRewrapped} keys; everything lies under ${kekId}\n`);
  for (const id of previousKekIds) err(`${id} is needed no more: take it out of storage.previousKeys\n`);
  return EXIT.done;
}

function keyMade(file: string, { out, err }: Terminal): number {
  const kekId = newKeyFile(resolve(file), new SystemRandom(), Date.now);
  err(`made ${resolve(file)}: name it in storage.keyFile, and the one before it in storage.previousKeys\n`);
  out(`${kekId}\n`);
  return EXIT.done;
}

function ofServer(given: Given, settings: Settings): SecretWork {
  // The server refuses too, but then the value has been on the wire.
  if (!isPrivateAddress(serverUrl(given, settings))) {
    throw new CountersignError('secret_connection_refused', 'secrets are sent over https, or to this machine');
  }
  const call = <T>(path: string, body?: object, method: 'GET' | 'POST' | 'PUT' = 'POST'): Promise<T> =>
    operatorCall(given, settings, path, body, method) as Promise<T>;
  return {
    put: (name, value) => call(`/v1/secrets/${encodeURIComponent(name)}`, { value }, 'PUT'),
    list: async () => (await call<SecretListRepresentation>('/v1/secrets', undefined, 'GET')).items,
    retire: (name, version) => call(`/v1/secrets/${encodeURIComponent(name)}/retire`, { version }),
    rewrap: () => call('/v1/keys/rewrap'),
  };
}

function wordOf(word: string | undefined, what: string): string {
  if (word === undefined) throw usage(`${what} is needed`);
  return word;
}

function valueFrom(file: string | null): string {
  try {
    return readFileSync(file ?? STDIN, 'utf8').replace(/\r?\n$/, '');
  } catch {
    throw usage(file === null ? 'stdin cannot be read' : 'the file of --from-file cannot be read');
  }
}
