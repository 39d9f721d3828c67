/** Installs the peers' packages beside their own lock file. The product never has them. */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PEERS_DIR = fileURLToPath(new URL('.', import.meta.url));

/** Nothing is done when what is installed is not older than the lock file. */
export function installPeers() {
  const lock = statSync(join(PEERS_DIR, 'package-lock.json'));
  const installed = statSync(join(PEERS_DIR, 'node_modules', '.package-lock.json'), { throwIfNoEntry: false });
  if (installed !== undefined && installed.mtimeMs >= lock.mtimeMs) return;
  console.log('Installing the peers (about 300 MB) into bench/peers/node_modules …');
  execFileSync('npm', ['ci'], { cwd: PEERS_DIR, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** @param {string} name of a package @returns {string} its installed version */
export function versionOf(name) {
  return JSON.parse(readFileSync(join(PEERS_DIR, 'node_modules', name, 'package.json'), 'utf8')).version;
}
