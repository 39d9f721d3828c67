// Opens the store of a data directory, says so on standard output, and holds it until it is killed or told to close.
import { join } from 'node:path';
import { builtModule } from './built-module.mjs';

const { openStore } = /** @type {typeof import('../../../../src/storage/sqlite/open-store.js')} */ (
  await builtModule('storage/sqlite/open-store.js')
);
const { SystemClock } = /** @type {typeof import('../../../../src/system/clock.js')} */ (
  await builtModule('system/clock.js')
);
const { SystemRandom } = /** @type {typeof import('../../../../src/system/random-source.js')} */ (
  await builtModule('system/random-source.js')
);

const [dataDir = ''] = process.argv.slice(2);
try {
  const store = await openStore({
    dataDir,
    storage: {
      queueMax: 1000,
      unitsPerFlushMax: 64,
      walBytesMax: 1e9,
      checkpointIntervalMs: 1000,
      keyFile: join(dataDir, 'keys', 'kek.json'),
      keyEnv: null,
      previousKeys: [],
      headFile: null,
      backupDir: null,
    },
    clock: new SystemClock(),
    random: new SystemRandom(),
    versionSetId: 'child',
    problem: () => undefined,
  });
  const { epoch } = await store.registerInstance();
  console.log(JSON.stringify({ opened: true, pid: process.pid, epoch }));
  process.stdin.resume();
} catch (error) {
  const { code, message } = /** @type {{ code?: string; message?: string }} */ (error);
  console.log(JSON.stringify({ opened: false, code, message }));
  process.exit(1);
}
