import { z } from 'zod';
import { CountersignError } from '../domain/errors/countersign-error.js';

export const MANIFEST_FILE = 'manifest.json';
export const COPY_FILE = 'countersign.sqlite';

const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** What stands beside a copy, so that whoever has it can tell what it is and that it is whole. */
export const backupManifest = z.strictObject({
  format: z.literal('countersign/backup/1'),
  /** ISO 8601. */
  createdAt: z.string(),
  productVersion: z.string(),
  schemaVersion: z.int().min(1),
  /** Events in the copy. */
  size: z.int().min(0),
  /** RFC 6962 root over their leaf hashes, hexadecimal. */
  root: hash,
  file: z.literal(COPY_FILE),
  bytes: z.int().min(1),
  /** Of the file, hexadecimal. */
  sha256: hash,
});
export type BackupManifest = z.infer<typeof backupManifest>;

/** @throws CountersignError `backup_damaged` for anything but a manifest of this form */
export function parseManifest(text: string): BackupManifest {
  try {
    return backupManifest.parse(JSON.parse(text));
  } catch {
    throw new CountersignError('backup_damaged', `${MANIFEST_FILE} is not the manifest of a backup`);
  }
}
