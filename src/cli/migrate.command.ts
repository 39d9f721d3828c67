import { settingsFile } from '../config/environment.js';
import { loadSettings } from '../config/load-settings.js';
import { migrateStore, schemaVersions } from '../storage/sqlite/migrate-store.js';
import { CONFIG_OPTION, EXIT, type Subcommand } from './command.js';

export const MIGRATE: Subcommand = {
  summary: 'bring the database of the data directory to the schema of this program',
  details: `Nothing else changes a schema. Refuses while a server runs on the data directory. There is no way back but a copy of
the data directory: stop the server, copy the directory, then migrate. Each migration happens whole or not at all.`,
  options: {
    config: CONFIG_OPTION,
    check: { type: 'boolean', about: 'only say the versions; exits with 3 when a migration is needed' },
  },
  run: async (given, terminal) => {
    const { dataDir } = loadSettings({
      file: given.text('config') ?? settingsFile(terminal.environment),
      environment: terminal.environment,
    });
    const { found, known } = schemaVersions(dataDir, Date.now);
    if (found === null) {
      terminal.out(`no database in ${dataDir}: the first start makes it with schema ${known}\n`);
      return EXIT.done;
    }
    if (found === known) {
      terminal.out(`schema ${found}: nothing to do\n`);
      return EXIT.done;
    }
    if (given.flag('check')) {
      terminal.out(`schema ${found}, this program needs ${known}: copy ${dataDir}, then run countersign migrate\n`);
      return EXIT.migrationNeeded;
    }
    const { from, to } = await migrateStore(dataDir, Date.now);
    terminal.out(`schema ${from} -> ${to}\n`);
    return EXIT.done;
  },
};
