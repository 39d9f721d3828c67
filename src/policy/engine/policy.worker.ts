import type { MessagePort } from 'node:worker_threads';
import { parentPort, workerData } from 'node:worker_threads';
import type { PolicyRequest } from '../core/policy-types.js';
import { loadCedar } from './cedar-module.js';
import { CedarEngine } from './cedar.engine.js';
import { checkCandidate } from './check-candidate.js';
import { evaluateWith } from './evaluate.js';
import type { PolicySet } from './policy-set.js';
import type { Answer, FromThread, Job, ThreadStart } from './worker-messages.js';

/** The thread's whole life: see `ThreadStart`. What it throws ends it, and the other side denies. */
async function run(port: MessagePort, start: ThreadStart): Promise<void> {
  const cedar = await loadCedar();
  const tell = (message: FromThread): void => port.postMessage(message);
  if (start.role === 'check') tell({ kind: 'checked', result: checkCandidate(cedar, start.candidate) });
  else serve(port, tell, new CedarEngine(cedar), start.set);
}

function serve(port: MessagePort, tell: (message: FromThread) => void, engine: CedarEngine, set: PolicySet): void {
  const problems = engine.activate(set);
  port.on('message', (jobs: readonly Job[]) => {
    const answers = jobs.map((job) => answer(engine, job));
    tell({ kind: 'answers', answers, dead: engine.dead });
  });
  tell({ kind: 'ready', problems });
}

function answer(engine: CedarEngine, job: Job): Answer {
  if (job === null) return engine.active !== null && engine.selfTest();
  return evaluateWith(engine.active, JSON.parse(job) as PolicyRequest);
}

if (parentPort === null) throw new Error('the policy worker runs as a worker thread only');
await run(parentPort, workerData as ThreadStart);
