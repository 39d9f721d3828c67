/** Reads the rows of one run and tells for each cell how a copy of it is made. */

/**
 * @typedef {{ ms: number, counter: string }} Stem what ids made in the same moment have in common: their time, and four digits after it
 * @typedef {object} Copy the names of one copy
 * @property {readonly string[]} stems
 * @property {readonly string[]} digests 64 hexadecimal digits each
 * @property {number} backMs how much older than the template
 * @property {number} block
 * @property {number} firstPosition
 *
 * @typedef {string | number | bigint | Buffer | null} Value
 * @typedef {(copy: Copy) => Value} Cell
 * @typedef {{ name: string, columns: readonly string[], rows: readonly (readonly Cell[])[] }} TableTemplate
 * @typedef {{ tables: readonly TableTemplate[], stems: readonly Stem[], digests: number, events: number }} Template
 */

/** Rows of a run, by table. Every other table must not grow with calls. */
const ROWS_OF_RUN = {
  runs: 'run_id = @run',
  tool_calls: 'run_id = @run',
  attempts: 'tool_call_id IN (SELECT tool_call_id FROM tool_calls WHERE run_id = @run)',
  idempotency: 'tool_call_id IN (SELECT tool_call_id FROM tool_calls WHERE run_id = @run)',
  data_keys: `scope = 'session/' || @run`,
  events: 'run_id = @run',
  positions: 'event_id IN (SELECT event_id FROM events WHERE run_id = @run)',
};

/** The order in which the rows were written, where it shows in the file. @type {Record<string, string>} */
const ORDERED_BY = { events: 'rowid', tool_calls: 'rowid', positions: 'idx' };

/** `prefix_` and a UUIDv7 in Crockford's base 32: 10 digits of time, 16 of counter and chance. */
const ID =
  /^((?:[a-z]+\/)?[a-z]+_)([0-9a-hjkmnp-tv-z]{10})([0-9a-hjkmnp-tv-z]{4})([0-9a-hjkmnp-tv-z]{8})([0-9a-hjkmnp-tv-z]{4})$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Columns whose digest belongs to one call, and not to its capability or policy. */
const DIGEST_COLUMNS = new Set(['args_digest', 'intent_digest', 'key_hash', 'downstream_key']);
const DIGEST = /^([a-z]\w*[:_])([0-9a-f]{40,64})$/;
/** Ids of what is older than the run: the process, the key of keys. */
const NOT_OF_THE_RUN = /^(?:ins|kek)_/;

/**
 * @param {import('better-sqlite3').Database} database
 * @param {string} label of the run
 * @returns {Template}
 */
export function templateOf(database, label) {
  const run = database.prepare('SELECT run_id FROM runs WHERE label = ?').pluck().get(`label:${label}`);
  if (typeof run !== 'string') throw new Error('the run of the template is missing');
  /** @type {Map<string, number>} */
  const stemIndex = new Map();
  /** @type {Map<string, number>} */
  const digestIndex = new Map();
  const tables = Object.entries(ROWS_OF_RUN).map(([name, where]) => {
    const order = ORDERED_BY[name] === undefined ? '' : `ORDER BY ${ORDERED_BY[name]}`;
    const found = /** @type {Record<string, Value>[]} */ (
      database.prepare(`SELECT * FROM ${name} WHERE ${where} ${order}`).all({ run })
    );
    const columns = Object.keys(found[0] ?? {});
    const rows = found.map((row, rank) =>
      columns.map((column) => cellOf(column, row[column] ?? null, { stemIndex, digestIndex, rank })),
    );
    return { name, columns, rows };
  });
  expectAllTables(database, tables);
  return {
    tables,
    stems: [...stemIndex.keys()].map((stem) => ({ ms: timeOf(stem), counter: stem.slice(10, 14) })),
    digests: digestIndex.size,
    events: tables.find(({ name }) => name === 'events')?.rows.length ?? 0,
  };
}

/**
 * @param {string} column
 * @param {Value} value
 * @param {{ stemIndex: Map<string, number>, digestIndex: Map<string, number>, rank: number }} known
 * @returns {Cell}
 */
function cellOf(column, value, { stemIndex, digestIndex, rank }) {
  if (column === 'idx') return ({ firstPosition }) => firstPosition + rank;
  if (typeof value !== 'string') return () => value;
  if (column === 'label') return ({ block }) => `${value}-${block}`;
  if (TIME.test(value)) {
    const ms = Date.parse(value);
    return ({ backMs }) => new Date(ms - backMs).toISOString();
  }
  const [, prefix, time, counter, chance, last] = ID.exec(value) ?? [];
  if (prefix !== undefined && !NOT_OF_THE_RUN.test(prefix)) {
    const index = indexOf(stemIndex, `${time}${counter}${chance}`);
    return ({ stems }) => `${prefix}${stems[index]}${last}`;
  }
  const [, kind, digest = ''] = DIGEST.exec(value) ?? [];
  if (kind !== undefined && DIGEST_COLUMNS.has(column)) {
    const index = indexOf(digestIndex, digest);
    return ({ digests }) => `${kind}${digests[index]?.slice(0, digest.length)}`;
  }
  return () => value;
}

/** @param {Map<string, number>} index @param {string} key */
function indexOf(index, key) {
  const known = index.get(key) ?? index.size;
  index.set(key, known);
  return known;
}

/** A table that grew with the calls and is not copied would make the store smaller than a real one. */
function expectAllTables(
  /** @type {import('better-sqlite3').Database} */ database,
  /** @type {readonly TableTemplate[]} */ tables,
) {
  const calls = tables.find(({ name }) => name === 'tool_calls')?.rows.length ?? 0;
  const names = database
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
    .pluck()
    .all();
  for (const name of /** @type {string[]} */ (names)) {
    if (Object.hasOwn(ROWS_OF_RUN, name)) continue;
    const { rows } = /** @type {{ rows: number }} */ (database.prepare(`SELECT count(*) AS rows FROM "${name}"`).get());
    if (rows > calls + 1)
      throw new Error(`the table ${name} has ${rows} rows after ${calls} calls: the prefill must know it`);
  }
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Milliseconds since 1970 in the first ten digits of an id. @param {string} digits */
const timeOf = (digits) =>
  Array.from(digits.slice(0, 10)).reduce((sum, digit) => sum * 32 + ALPHABET.indexOf(digit), 0);
