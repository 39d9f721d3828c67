import type { EventEnvelope } from '../../domain/events/envelope.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { TableRow } from '../rows/tables.js';

/** A `policy.decided` event as it can still be read; `payload` is null once the key of its session is gone. */
export interface ReadDecision {
  readonly position: number;
  readonly envelope: EventEnvelope;
  readonly payload: JsonObject | null;
}

/** Positions from (included) and below (not included), and between which times of recording. */
export interface DecisionWindow {
  readonly from: number;
  readonly below: number;
  readonly since: string | null;
  readonly until: string | null;
}

/** Policy sets and what became of them. Sets belong to the installation, so all but `decision` goes over all tenants. */
export interface PolicyReader {
  policySet(revision: string): Promise<TableRow<'policy_sets'> | null>;
  policyActivation(activationId: string): Promise<TableRow<'policy_activations'> | null>;
  /** Proposals that nobody has decided; the oldest first. */
  openPolicyActivations(limit: number): Promise<readonly TableRow<'policy_activations'>[]>;
  policyShadow(scope: string): Promise<TableRow<'policy_shadow'> | null>;
  shadowFlips(revision: string): Promise<readonly TableRow<'policy_shadow_flips'>[]>;
  /** The newest first. */
  shadowDifferences(revision: string, limit: number): Promise<readonly TableRow<'policy_shadow_differences'>[]>;
  /** The highest number a difference has, of whatever shadow; 0 before the first. */
  shadowSequence(): Promise<number>;
  /** The newest first. The work grows with the window. */
  decisionsIn(window: DecisionWindow): Promise<readonly ReadDecision[]>;
  /** One recorded decision by its own id. */
  decision(tenant: string, policyDecisionId: string): Promise<ReadDecision | null>;
  /** Every decision about one call, in order. */
  decisionsOf(tenant: string, toolCallId: string): Promise<readonly ReadDecision[]>;
}
