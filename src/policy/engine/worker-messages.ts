import type { Undigested } from './evaluate.js';
import type { PolicyProblem } from './policy-problem.js';
import type { CheckResult, PolicyCandidate, PolicySet } from './policy-set.js';

/** What a thread is started for: to check one candidate and end, or to serve one set for life. */
export type ThreadStart =
  { readonly role: 'check'; readonly candidate: PolicyCandidate } | { readonly role: 'serve'; readonly set: PolicySet };

/** The text of a canonical request, or null: answer the self-test. Jobs travel in batches and are answered in order. */
export type Job = string | null;

export type Answer = Undigested | boolean;

export type FromThread =
  | { readonly kind: 'checked'; readonly result: CheckResult }
  /** Ready to serve when there are no problems. */
  | { readonly kind: 'ready'; readonly problems: readonly PolicyProblem[] }
  /** `dead`: the engine trapped meanwhile, the thread must be replaced. */
  | { readonly kind: 'answers'; readonly answers: readonly Answer[]; readonly dead: boolean };
