import type { Capability } from '../capabilities/manifest.js';
import type { EventPayload } from '../domain/events/catalogue.js';
import type { JsonObject } from '../domain/json/json-value.js';
import type { Readings } from './core/precondition.js';
import type { PolicyDecision, PolicyRequest } from './core/policy-types.js';

type Phase = EventPayload<'policy.decided'>['phase'];

/** What a judgement is about, besides the call itself. */
export interface Judged {
  readonly phase: Phase;
  readonly request: PolicyRequest;
  readonly decision: PolicyDecision;
  readonly capability: Capability;
  /** Effective arguments, in clear. */
  readonly args: JsonObject;
  readonly redacted: readonly string[];
  readonly target: JsonObject;
  readonly requesterSubjects: readonly string[];
  readonly agentReason: string | null;
  /** ISO 8601. */
  readonly now: string;
  /** What the call rests on, as just read: needed where a question is asked about a capability with preconditions. */
  readonly readings?: Readings | undefined;
}
