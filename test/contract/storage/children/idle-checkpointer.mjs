// Stands in for the checkpoint thread: it says that there is nothing to move.
import { parentPort } from 'node:worker_threads';

parentPort?.on('message', (/** @type {{ kind: string }} */ { kind }) => {
  const passed = { kind: 'passed', progress: { logFrames: 0, checkpointedFrames: 0 } };
  parentPort?.postMessage(kind === 'close' ? { kind: 'closed' } : passed);
});
