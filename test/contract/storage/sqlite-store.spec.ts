import { openSqlite } from './opened-store.js';
import { describeStoreContract } from './store-contract.js';

describeStoreContract('SQLite', openSqlite);
