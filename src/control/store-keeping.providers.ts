import { StoreHold } from '../capabilities/store-hold.js';
import { AcceptRestoreHandler } from './accept-restore/accept-restore.handler.js';
import { MakeBackupHandler } from './make-backup/make-backup.handler.js';

/** Copies of the store, and what is held until somebody has looked at one. */
export const STORE_KEEPING = [StoreHold, AcceptRestoreHandler, MakeBackupHandler];
