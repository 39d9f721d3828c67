import { SCHEMA_VERSION } from '../storage/migrations.js';
import { sqliteVersion } from '../storage/sqlite/database-file.js';
import { PRODUCT_VERSION } from '../system/product-version.js';
import { EXIT, type Subcommand } from './command.js';

export const VERSION: Subcommand = {
  summary: 'say which versions of what this is',
  details: '',
  options: { json: { type: 'boolean', about: 'one line of JSON' } },
  run: (given, terminal) => {
    const versions = {
      version: PRODUCT_VERSION,
      schema: SCHEMA_VERSION,
      node: process.versions.node,
      sqlite: sqliteVersion(),
    };
    const { version, schema, node, sqlite } = versions;
    const words = `countersign ${version} (schema ${schema}, Node ${node}, SQLite ${sqlite})`;
    terminal.out(`${given.flag('json') ? JSON.stringify(versions) : words}\n`);
    return Promise.resolve(EXIT.done);
  },
};
