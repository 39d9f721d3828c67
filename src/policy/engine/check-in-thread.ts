import type { PolicyProblem } from './policy-problem.js';
import { problem } from './policy-problem.js';
import type { CheckResult, PolicyCandidate } from './policy-set.js';
import { startThread } from './thread-options.js';
import type { FromThread } from './worker-messages.js';

/**
 * Checks a candidate on a thread of its own that is thrown away afterwards: whatever the policies do to the engine's parser, no
 * decision is ever made by that instance. Never rejects.
 */
export async function checkInThread(entry: URL, candidate: PolicyCandidate, timeoutMs: number): Promise<CheckResult> {
  const thread = startThread(entry, { role: 'check', candidate });
  try {
    return await new Promise<CheckResult>((resolve) => {
      const refuse = (message: string): void => resolve(refused(problem('engine_crashed', message)));
      const timer = setTimeout(() => refuse(`checking the policies took longer than ${timeoutMs} ms`), timeoutMs);
      thread.once('exit', () => {
        clearTimeout(timer);
        refuse('the thread that checked the policies ended without a word');
      });
      thread.once('error', () => refuse('the thread that checked the policies crashed'));
      thread.once('message', (message: FromThread) => {
        if (message.kind === 'checked') resolve(message.result);
        else refuse('the thread that checked the policies answered something else');
      });
    });
  } finally {
    await thread.terminate();
  }
}

function refused(because: PolicyProblem): CheckResult {
  return { ok: false, problems: [because], warnings: [] };
}
