import type { Subcommands } from './command-line.js';

export const SUBCOMMANDS: Subcommands = {
  start: async () => (await import('./start.command.js')).START,
  dev: async () => (await import('./dev.command.js')).DEV,
  migrate: async () => (await import('./migrate.command.js')).MIGRATE,
  backup: async () => (await import('./backup.command.js')).BACKUP,
  restore: async () => (await import('./restore.command.js')).RESTORE,
  policy: async () => (await import('./policy.command.js')).POLICY,
  secret: async () => (await import('./secret.command.js')).SECRET,
  token: async () => (await import('./token.command.js')).TOKEN,
  version: async () => (await import('./version.command.js')).VERSION,
};
