// Commits units through a store that never moves its log, and prints after each answer what is acknowledged and how long the log is:
// first one unit at a time, then some at once. In the end it waits to be killed.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { builtModule } from '../../storage/children/built-module.mjs';

const { openStore } = /** @type {typeof import('../../../../src/storage/sqlite/open-store.js')} */ (
  await builtModule('storage/sqlite/open-store.js')
);
const { SystemClock } = /** @type {typeof import('../../../../src/system/clock.js')} */ (
  await builtModule('system/clock.js')
);
const { SystemRandom } = /** @type {typeof import('../../../../src/system/random-source.js')} */ (
  await builtModule('system/random-source.js')
);
const { createIdSource } = /** @type {typeof import('../../../../src/domain/ids/ids.js')} */ (
  await builtModule('domain/ids/ids.js')
);

const [dataDir = '', singles = '0', rounds = '0', atOnce = '0'] = process.argv.slice(2);
const clock = new SystemClock();
const random = new SystemRandom();
const ids = createIdSource(clock, random);
const store = await openStore({
  dataDir,
  storage: {
    queueMax: 1000,
    unitsPerFlushMax: 64,
    walBytesMax: 1e9,
    checkpointIntervalMs: 600_000,
    keyFile: join(dataDir, 'keys', 'kek.json'),
    keyEnv: null,
    previousKeys: [],
    headFile: null,
    backupDir: null,
  },
  clock,
  random,
  versionSetId: 'child',
  problem: () => undefined,
});

let made = 0;

/** @returns {import('../../../../src/storage/unit.js').Unit} two events and two rows */
function nextUnit() {
  made += 1;
  const name = `unit ${made}`;
  const occurredAt = new Date(clock.now()).toISOString();
  const event = () => ({
    eventId: ids.next('evt'),
    type: /** @type {const} */ ('policy.activation_refused'),
    refs: {},
    producer: /** @type {const} */ ('policy-runtime'),
    actor: { sub: 'operator' },
    correlationId: name,
    causationId: null,
    causeKind: /** @type {const} */ ('external'),
    occurredAt,
    payload: { problems: [name] },
  });
  const fact = (/** @type {string} */ key) => ({
    op: /** @type {const} */ ('insert'),
    table: /** @type {const} */ ('meta'),
    row: { name: `${name} ${key}`, value: name },
    takenGuard: 'fact',
  });
  return {
    unitId: name,
    tenant: 'acme',
    lane: 'admit',
    guards: [],
    appends: [{ stream: { kind: 'policy', id: name }, expectedVersion: 0, events: [event(), event()] }],
    writes: [fact('first'), fact('last')],
    counters: [],
  };
}

function acknowledge() {
  const { size } = statSync(join(dataDir, 'countersign.sqlite-wal'));
  console.log(JSON.stringify({ acknowledged: made, walBytes: size }));
}

for (let n = 0; n < Number(singles); n += 1) {
  await store.commit(nextUnit());
  acknowledge();
}
for (let round = 0; round < Number(rounds); round += 1) {
  await Promise.all(Array.from({ length: Number(atOnce) }, () => store.commit(nextUnit())));
  acknowledge();
}
console.log(JSON.stringify({ done: true }));
process.stdin.resume();
