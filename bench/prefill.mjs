/**
 * Fills the store of a proxy that does not run with what a long life leaves behind. A hundred calls are made through the proxy, as a run of
 * their own; then the rows of that run are copied as often as needed, with new ids, keys, digests and times, so that every table and index
 * gets the size, the order and the spread of real ones. What is sealed and hashed is copied as it is: the copies do not open and their leaves
 * do not verify, which nothing on the way of a call looks at.
 */
import { randomBytes } from 'node:crypto';
import Database from 'better-sqlite3';
import { GatedAnswers, runGated } from './gated-load.mjs';
import { headOf } from './recorded.mjs';
import { templateOf } from './prefill-template.mjs';

const TEMPLATE_CALLS = 100;
const CONNECTIONS = 4;
/** Between two copies of the run: a hundred calls per second, long ago. */
const STEP_MS = 1000;
const BLOCKS_PER_TRANSACTION = 100;
/** The index over idempotency keys is the only one that grows everywhere at once; it should stay in memory. */
const CACHE_KIB = 768 * 1024;

/** Pragmas while rows are copied, and what SQLite answers when they are in force. */
const SETTINGS = /** @type {const} */ ([
  ['journal_mode = MEMORY', 'memory'],
  ['synchronous = OFF', null],
  [`cache_size = -${CACHE_KIB}`, null],
  ['temp_store = MEMORY', null],
]);

/**
 * @param {import('./processes.mjs').Installation} place
 * @param {number} wanted events at least
 * @returns {Promise<{ events: number, calls: number, seconds: number }>} what the store then holds
 */
export async function prefill(place, wanted) {
  const startedAt = performance.now();
  await makeTemplate(place);
  const database = new Database(place.database, { fileMustExist: true });
  try {
    // Nobody else has the file, and a half-filled one is thrown away: no log and no syncs until all is there.
    for (const [pragma, inForce] of SETTINGS) {
      const actual = database.pragma(pragma, { simple: true });
      if (inForce !== null && actual !== inForce) throw new Error(`${pragma} is not in force: ${String(actual)}`);
    }
    const head = /** @type {number} */ (database.prepare('SELECT max(idx) + 1 FROM positions').pluck().get());
    const template = templateOf(database, 'template');
    const blocks = Math.max(0, Math.ceil((wanted - head) / template.events));
    copyBlocks(database, template, { head, blocks });
    database.pragma('synchronous = FULL');
    if (database.pragma('journal_mode = WAL', { simple: true }) !== 'wal') throw new Error('the log is not back');
    const { events, calls } = /** @type {{ events: number, calls: number }} */ (
      database
        .prepare('SELECT (SELECT count(*) FROM positions) AS events, (SELECT count(*) FROM tool_calls) AS calls')
        .get()
    );
    return { events, calls, seconds: (performance.now() - startedAt) / 1000 };
  } finally {
    database.close();
  }
}

/** @param {import('./processes.mjs').Installation} place */
async function makeTemplate(place) {
  const proxy = await place.start();
  const answers = new GatedAnswers();
  const load = { url: proxy.url, token: place.token, series: 'template', run: 'template' };
  try {
    await runGated(answers, { ...load, connections: CONNECTIONS, calls: TEMPLATE_CALLS });
  } finally {
    await proxy.kill('SIGTERM');
  }
  if (answers.completed !== TEMPLATE_CALLS)
    throw new Error(`the template is not complete: ${answers.problems.join('; ')}`);
  if (headOf(place.database) === 0) throw new Error('the template left no events');
}

/**
 * @param {import('better-sqlite3').Database} database
 * @param {import('./prefill-template.mjs').Template} template
 * @param {{ head: number, blocks: number }} plan
 */
function copyBlocks(database, { tables, stems, digests, events }, { head, blocks }) {
  const inserts = tables.map(({ name, columns }) =>
    database.prepare(`INSERT INTO ${name} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`),
  );
  /** @param {number} block counted from 0 */
  const copyBlock = (block) => {
    const copy = newNames({
      stems,
      digests,
      backMs: (blocks - block) * STEP_MS,
      block,
      firstPosition: head + block * events,
    });
    tables.forEach(({ rows }, index) => {
      for (const row of rows) inserts[index]?.run(row.map((cell) => cell(copy)));
    });
  };
  for (let block = 0; block < blocks; block += BLOCKS_PER_TRANSACTION) {
    database.exec('BEGIN');
    for (let next = block; next < Math.min(blocks, block + BLOCKS_PER_TRANSACTION); next += 1) copyBlock(next);
    database.exec('COMMIT');
  }
}

/**
 * What the names of one copy are made of.
 * @param {{ stems: readonly import('./prefill-template.mjs').Stem[], digests: number, backMs: number, block: number, firstPosition: number }} copy
 * @returns {import('./prefill-template.mjs').Copy}
 */
function newNames({ stems, digests, backMs, block, firstPosition }) {
  const random = randomBytes(stems.length * 5 + digests * 32);
  const newDigests = Array.from({ length: digests }, (_, index) =>
    random.toString('hex', stems.length * 5 + index * 32, stems.length * 5 + (index + 1) * 32),
  );
  const newStems = stems.map(
    ({ ms, counter }, index) => `${base32(ms - backMs, 10)}${counter}${base32(random.readUIntBE(index * 5, 5), 8)}`,
  );
  return { stems: newStems, digests: newDigests, backMs, block, firstPosition };
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Crockford's base 32, as in our ids. @param {number} value a whole number @param {number} digits */
function base32(value, digits) {
  let text = '';
  for (let rest = value; text.length < digits; rest = Math.floor(rest / 32)) text = ALPHABET[rest % 32] + text;
  return text;
}
