// Another program that has the database open: holds its write lock for a while, then lets go.
import Database from 'better-sqlite3';

const [path = '', holdMs = '0'] = process.argv.slice(2);
const database = new Database(path, { fileMustExist: true });
database.exec('BEGIN IMMEDIATE');
console.log(JSON.stringify({ locked: true }));
setTimeout(() => {
  database.exec('ROLLBACK');
  database.close();
}, Number(holdMs));
