// Stands in for the writer thread: it says that it is ready and dies at the first batch, in the way it is told.
import { parentPort, workerData } from 'node:worker_threads';

const way = /** @type {{ databasePath: string }} */ (workerData).databasePath.includes('throws') ? 'throws' : 'exits';
parentPort?.postMessage({ kind: 'ready', head: 0, leavesAtKnown: [] });
parentPort?.on('message', () => {
  if (way === 'throws') throw new Error('the writer is broken');
  process.exit(3);
});
