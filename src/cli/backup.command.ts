import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { settingsFile } from '../config/environment.js';
import { loadSettings } from '../config/load-settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { MANIFEST_FILE, parseManifest, type BackupManifest } from '../storage/backup-manifest.js';
import { backupStore } from '../storage/sqlite/backup-store.js';
import { CONFIG_OPTION, EXIT, type Subcommand } from './command.js';
import { SERVER_OPTIONS, operatorCall } from './operator-call.js';

export const BACKUP: Subcommand = {
  summary: 'copy the store to a new directory, with a manifest of its size and root',
  details: `With --token-file the running server makes the copy (in storage.backupDir) and this command moves it to DIR; calls go
on meanwhile. Without it no server may run on the data directory. DIR must be new or empty. The key-encryption key
(storage.keyFile) is not in the copy: keep it elsewhere, without it the copy cannot be read.`,
  operand: { value: 'DIR' },
  options: { config: CONFIG_OPTION, ...SERVER_OPTIONS },
  run: async (given, terminal) => {
    const { environment } = terminal;
    const settings = loadSettings({ file: given.text('config') ?? settingsFile(environment), environment });
    const target = resolve(given.operand());
    let manifest: BackupManifest;
    if (given.text('token-file') === null) {
      manifest = await backupStore(settings.dataDir, target, Date.now);
    } else {
      mustBeNew(target);
      const { directory } = (await operatorCall(given, settings, '/v1/backups')) as { readonly directory: string };
      manifest = moved(directory, target);
    }
    terminal.out(`${target}\n`);
    terminal.err(`backup of ${manifest.size} events, root ${manifest.root}, schema ${manifest.schemaVersion}\n`);
    return EXIT.done;
  },
};

function mustBeNew(target: string): void {
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new CountersignError('backup_failed', 'the directory is not empty; name a new one');
  }
}

/** The server's directory becomes the operator's. Across file systems it is copied, and removed when the copy is whole. */
function moved(directory: string, target: string): BackupManifest {
  const manifest = readManifest(directory);
  try {
    if (existsSync(target)) rmSync(target, { recursive: true });
    mkdirSync(dirname(target), { recursive: true });
    try {
      renameSync(directory, target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
      cpSync(directory, target, { recursive: true, errorOnExist: true });
      rmSync(directory, { recursive: true });
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CountersignError('backup_failed', `the copy is whole in ${directory} and could not be moved (${code})`);
  }
  return manifest;
}

function readManifest(directory: string): BackupManifest {
  try {
    return parseManifest(readFileSync(join(directory, MANIFEST_FILE), 'utf8'));
  } catch (error) {
    if (error instanceof CountersignError) throw error;
    const message = `the server has made it in ${directory}, which cannot be read from here`;
    throw new CountersignError('backup_failed', message);
  }
}
