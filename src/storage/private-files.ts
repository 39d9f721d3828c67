import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';

/** Makes the directory when it is missing, and takes it away from everybody else. */
export function privateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
}

/** Takes a file away from everybody else. */
export function privateFile(path: string): void {
  chmodSync(path, 0o600);
}

/** Makes an empty file that was not there, mode 0600 from its first moment on. */
export function newPrivateFile(path: string): void {
  closeSync(openSync(path, 'wx', 0o600));
}

/** Makes the names in a directory durable: a new or renamed file is otherwise lost with the power. */
export function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
