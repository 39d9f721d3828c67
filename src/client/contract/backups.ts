import { z } from 'zod';
import { commandId, id, instant } from './fields.js';

/** Ends the hold of a restored or older store. The reason stays on record. */
export const acceptRestoreCommand = z.strictObject({
  commandId,
  type: z.literal('accept_restore'),
  target: z.literal('store'),
  reason: z.string().min(1).max(4096),
});

const hash = z.string().regex(/^[0-9a-f]{64}$/);

export const backupRepresentation = z
  .strictObject({
    backupId: id,
    directory: z.string().describe('Where the server has put it, on its own file system.'),
    createdAt: instant,
    productVersion: z.string(),
    schemaVersion: z.int(),
    size: z.int().describe('Events in the copy.'),
    root: hash.describe('RFC 6962 Merkle root over them.'),
    bytes: z.int(),
    sha256: hash.describe('Of the copy.'),
  })
  .meta({ id: 'Backup' });
export type BackupRepresentation = z.infer<typeof backupRepresentation>;
