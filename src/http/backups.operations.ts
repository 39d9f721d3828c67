import { backupRepresentation } from '../client/contract/backups.js';
import type { Operation } from './openapi/operation.js';

export const MAKE_BACKUP = {
  id: 'makeBackup',
  tag: 'Installation',
  summary: 'Copy the running store',
  description:
    'For operators of the installation. Answers when the copy is checked and on disk; calls go on meanwhile. It goes to a new directory below `storage.backupDir`; `countersign backup DIR` moves it where you want it. The key-encryption key is not in it.',
  answers: { 201: { means: 'The copy is made.', body: backupRepresentation } },
  refusals: ['not_authorized', 'backup_running', 'backup_failed'],
} as const satisfies Operation;
