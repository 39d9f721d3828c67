import { parentPort, workerData } from 'node:worker_threads';
import { checkpointPassively } from './checkpoint.js';
import type { CheckpointAnswer, CheckpointRequest } from './checkpoint-messages.js';
import { openForCheckpoints } from './connection.js';

/** The checkpoint thread: moves pages from the log to the file while the writer writes and readers read. */
const port = parentPort;
if (port === null) throw new Error('the checkpointer runs in a thread of its own');

const { databasePath } = workerData as { readonly databasePath: string };
const database = openForCheckpoints(databasePath);

port.on('message', (request: CheckpointRequest) => {
  switch (request.kind) {
    case 'pass':
      return port.postMessage(pass());
    case 'close':
      database.close();
      port.postMessage({ kind: 'closed' } satisfies CheckpointAnswer);
      return port.unref();
  }
});

function pass(): CheckpointAnswer {
  try {
    return { kind: 'passed', progress: checkpointPassively(database) };
  } catch (error) {
    return { kind: 'failed', message: error instanceof Error ? error.message : 'something that is no error' };
  }
}
