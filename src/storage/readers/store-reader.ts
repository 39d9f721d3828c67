import type { CommittedEvent, StreamRef } from '../../domain/events/envelope.js';
import type { ToolCallStatus } from '../../domain/tool-call/tool-call.state.js';
import type { ApprovalListQuery, Page, ToolCallListQuery } from './lists.js';
import type { TableRow } from '../rows/tables.js';
import type { LeaseReader } from './lease.reader.js';
import type { StandingReader } from './standing.reader.js';
import type { PlanReviewReader } from './plan-review-records.js';
import type { PolicyReader } from './policy-records.js';
import type { SecretReader } from './secret-records.js';
import type { SessionReader } from './session-records.js';

/**
 * Every question the product asks of what is durable. Nothing is visible here before it is on disk. A question about a tenant's
 * data takes the tenant: an id of another tenant is an unknown id. What sweeps ask goes over all tenants and says so. Times are
 * ISO 8601 text in UTC with milliseconds, as in the rows.
 */
export interface StoreReader
  extends
    ToolCallReader,
    ApprovalReader,
    RunReader,
    RunChainReader,
    OutcomeReader,
    LeaseReader,
    ProposalReader,
    WorkReader,
    CensusReader,
    InstallationReader,
    SinkReader,
    EventReader,
    LateResultReader,
    PolicyReader,
    SecretReader,
    SessionReader,
    StandingReader,
    PlanReviewReader,
    FactsReader {}

export interface ToolCallReader {
  toolCall(tenant: string, toolCallId: string): Promise<TableRow<'tool_calls'> | null>;
  attempt(tenant: string, toolCallId: string, attempt: number): Promise<TableRow<'attempts'> | null>;
  handoff(tenant: string, handoffId: string): Promise<TableRow<'handoffs'> | null>;
  /** Newest first, at most 200. A cursor that this installation did not give: `CountersignError` `invalid_request`. */
  toolCalls(query: ToolCallListQuery): Promise<Page<TableRow<'tool_calls'>>>;
}

export interface ApprovalReader {
  approval(tenant: string, approvalId: string): Promise<TableRow<'approvals'> | null>;
  /** In the order in which they were cast; withdrawn ones are included. */
  votes(tenant: string, approvalId: string): Promise<readonly TableRow<'approval_votes'>[]>;
  /** Newest first, at most 200. */
  approvals(query: ApprovalListQuery): Promise<Page<TableRow<'approvals'>>>;
}

export interface RunReader {
  run(tenant: string, runId: string): Promise<TableRow<'runs'> | null>;
  /** The run of this principal that has this label and has not ended. */
  openRunByLabel(tenant: string, principal: string, label: string): Promise<TableRow<'runs'> | null>;
  /** Calls of the run that are not terminal. */
  openCallCount(tenant: string, runId: string): Promise<number>;
  /** Approvals of the run that are pending. */
  pendingApprovalCount(tenant: string, runId: string): Promise<number>;
  /** Calls of the run that are not terminal, or in which something has changed since `since`; by tool call id. */
  callsInStop(tenant: string, runId: string, since: string): Promise<readonly TableRow<'tool_calls'>[]>;
  /** All tenants: runs that are being stopped, by run id. */
  stoppingRuns(limit: number): Promise<readonly TableRow<'runs'>[]>;
  /** All tenants: running implicit runs without an open call in which nothing has changed since `before`. */
  idleImplicitRuns(before: string, limit: number): Promise<readonly TableRow<'runs'>[]>;
}

/** What a run is about, and everything that happened in it. */
export interface RunChainReader {
  /** Calls of the run that are not terminal, the oldest first. */
  openCalls(tenant: string, runId: string, limit: number): Promise<readonly TableRow<'tool_calls'>[]>;
  /** Approvals of the run that are pending, the oldest first. */
  questionsOfRun(tenant: string, runId: string, limit: number): Promise<readonly TableRow<'approvals'>[]>;
  runObject(tenant: string, objectId: string): Promise<TableRow<'run_objects'> | null>;
  runObjectByClientId(
    tenant: string,
    runId: string,
    kind: TableRow<'run_objects'>['kind'],
    clientId: string,
  ): Promise<TableRow<'run_objects'> | null>;
  /** Newest first. */
  runObjects(
    tenant: string,
    runId: string,
    kind: TableRow<'run_objects'>['kind'],
    limit: number,
  ): Promise<readonly TableRow<'run_objects'>[]>;
  /** `run.started`; null when there is no such run in the tenant. */
  runStart(tenant: string, runId: string): Promise<CommittedEvent | null>;
  /** How many calls the run has, counted no further than `max`. */
  callCountUpTo(tenant: string, runId: string, max: number): Promise<number>;
  /**
   * The events of the run, of its calls, their approvals and their outcomes at positions above `after`, in order. The work
   * grows with the whole run: ask for runs with few calls only.
   */
  runEvents(tenant: string, runId: string, after: number, limit: number): Promise<readonly CommittedEvent[]>;
  /** Every event about the run at positions above `after` and up to `upTo`, in order. The work grows with that window. */
  runEventsBetween(tenant: string, runId: string, after: number, upTo: number): Promise<readonly CommittedEvent[]>;
}

export interface OutcomeReader {
  outcome(tenant: string, toolCallId: string): Promise<TableRow<'outcomes'> | null>;
  outcomeFeedback(
    tenant: string,
    toolCallId: string,
    source: string,
    feedbackId: string,
  ): Promise<TableRow<'outcome_feedback'> | null>;
  /** All tenants: pending outcomes whose deadline has come; the oldest first. */
  overdueOutcomes(now: string, limit: number): Promise<readonly TableRow<'outcomes'>[]>;
}

export interface ProposalReader {
  idempotency(
    tenant: string,
    principal: string,
    capability: string,
    keyHash: string,
  ): Promise<TableRow<'idempotency'> | null>;
  /** By ordinal. */
  openIntents(
    tenant: string,
    principal: string,
    capability: string,
    intentDigest: string,
  ): Promise<readonly TableRow<'open_intents'>[]>;
  callId(tenant: string, runId: string, turnId: string, callId: string): Promise<TableRow<'call_ids'> | null>;
  command(tenant: string, commandId: string): Promise<TableRow<'control_commands'> | null>;
}

/** What sweeps and executors ask. Everything but `workOf` goes over all tenants. */
export interface WorkReader {
  workOf(tenant: string, toolCallId: string): Promise<TableRow<'work'> | null>;
  /** Due at `now` and not claimed by anybody at `now`; the longest due first. */
  dueWork(kind: TableRow<'work'>['kind'], now: string, limit: number): Promise<readonly TableRow<'work'>[]>;
  /** The earliest `next_at` of unclaimed work of this kind, or null: when to look again. */
  nextWorkAt(kind: TableRow<'work'>['kind']): Promise<string | null>;
  /** Pending approvals whose `decide_by` has come; the oldest first. */
  overdueApprovals(now: string, limit: number): Promise<readonly TableRow<'approvals'>[]>;
  /** Pending approvals of another policy revision, or of a definition whose digest is not listed; the oldest first. */
  questionsOutsideOf(
    policyRevision: string,
    manifestDigests: readonly string[],
    limit: number,
  ): Promise<readonly TableRow<'approvals'>[]>;
  /** Granted approvals, not consumed, whose `execute_by` has come; the oldest first. */
  overdueGrants(now: string, limit: number): Promise<readonly TableRow<'approvals'>[]>;
  /** Authorized calls whose `execute_by` has come; the oldest first. */
  overdueAuthorizations(now: string, limit: number): Promise<readonly TableRow<'tool_calls'>[]>;
  /** By tool call id, after `afterId` (null from the start). Terminal states may be asked for; that scans. */
  callsInStates(
    statuses: readonly ToolCallStatus[],
    limit: number,
    afterId: string | null,
  ): Promise<readonly TableRow<'tool_calls'>[]>;
}

/** How much waits, over all tenants: for metrics, answered from indexes. */
export interface CensusReader {
  /** Calls in each state that may still need somebody; handoffs that have a finding are left out, and so is what counts none. */
  openCallCounts(): Promise<ReadonlyMap<ToolCallStatus, number>>;
  /** Approvals that wait for people. */
  pendingApprovals(): Promise<number>;
}

/** What policies may be told about the past. */
export interface FactsReader {
  /** Calls of the same intent that were denied at or after this time. */
  denialsSince(
    tenant: string,
    intentDigest: string,
    since: string,
  ): Promise<{ readonly byPeople: number; readonly byPolicy: number }>;
  /** Whether a call with a key, other than this one, is on record for the principal and the capability. */
  usedBefore(tenant: string, principal: string, capability: string, toolCallId: string): Promise<boolean>;
  /**
   * All tenants: counters whose key begins with the prefix and stands before `<prefix><before>`, and that no call may still give
   * back to.
   */
  endedCounters(prefix: string, before: string, limit: number): Promise<readonly TableRow<'counters'>[]>;
}

/** What belongs to the installation and not to one tenant. */
export interface InstallationReader {
  /** The version in force (active or held). */
  capability(name: string): Promise<TableRow<'capabilities'> | null>;
  /** Names of the capabilities that are held, in order. */
  heldCapabilities(): Promise<readonly string[]>;
  /** One recorded version, in whatever state. */
  capabilityVersion(name: string, version: string): Promise<TableRow<'capabilities'> | null>;
  activePolicy(scope: string): Promise<TableRow<'policy_active'> | null>;
  pauses(): Promise<readonly TableRow<'pauses'>[]>;
  meta(name: string): Promise<string | null>;
  /** 0 when nothing was counted. */
  counter(tenant: string, key: string): Promise<number>;
  instances(): Promise<readonly TableRow<'instances'>[]>;
}

/** An event that a sink was offered so often that it is offered no more. */
export interface DeadLetter {
  readonly sink: string;
  readonly position: number;
  readonly partition: string;
  readonly tries: number;
  readonly last_error: string | null;
  readonly parked_at: string;
  readonly event_id: string;
  readonly event_type: string;
  readonly tenant: string;
  readonly recorded_at: string;
}

export interface SinkBacklog {
  readonly parked: number;
  readonly dead: number;
  /** When the oldest event was recorded that this sink still has to be given; null when there is none. */
  readonly waitingSince: string | null;
}

/** How far the sinks are. Sinks belong to the installation, so this goes over all tenants. */
export interface SinkReader {
  sinkCursor(sink: string): Promise<TableRow<'sink_cursors'> | null>;
  sinkCursors(): Promise<readonly TableRow<'sink_cursors'>[]>;
  /** Without dead ones; by position. */
  parkedDeliveries(sink: string, limit: number): Promise<readonly TableRow<'sink_parked'>[]>;
  /** Positions above `position` that are parked or dead. */
  parkedBeyond(sink: string, position: number): Promise<readonly number[]>;
  /** By position, above `after`; of one sink or of all. */
  deadLetters(sink: string | null, after: number, limit: number): Promise<readonly DeadLetter[]>;
  sinkBacklog(sink: string): Promise<SinkBacklog>;
}

/** Payloads are unsealed. A payload that does not unseal or does not match its commitment is a plain `Error`. */
export interface EventReader {
  event(tenant: string, eventId: string): Promise<CommittedEvent | null>;
  positionOf(tenant: string, eventId: string): Promise<number | null>;
  /**
   * The version of a stream that has no row of its own; 0 when it has no event. Over all tenants: the events of an
   * installation's stream belong to whoever acted.
   */
  streamVersion(stream: StreamRef): Promise<number>;
  /** Ids of the events of one unit that a command led to (each names its `commandId`), in order. */
  unitEventIds(tenant: string, unitId: string): Promise<readonly string[]>;
  /** By version. */
  streamEvents(tenant: string, stream: StreamRef): Promise<readonly CommittedEvent[]>;
  /**
   * Events at positions above `position` (-1 from the start), in order. With `tenant` null over all tenants. Fewer than `limit`
   * events mean that the end was reached.
   */
  eventsAfter(position: number, limit: number, tenant: string | null): Promise<readonly CommittedEvent[]>;
}

/** Evidence from outside. It is not known whose it is before its call is, so these go over all tenants. */
export interface LateResultReader {
  lateResult(lateResultId: string): Promise<TableRow<'late_results'> | null>;
  /** Evidence about a call that is not applied yet, the oldest first. */
  waitingLateResults(toolCallId: string): Promise<readonly TableRow<'late_results'>[]>;
  /** Ids of calls with evidence that is not applied yet, after `afterId` (null from the start). */
  callsWithWaitingResults(limit: number, afterId: string | null): Promise<readonly string[]>;
  /** Unmatched evidence that names this reference. */
  unmatchedLateResults(
    capability: string,
    reference: string,
    limit: number,
  ): Promise<readonly TableRow<'late_results'>[]>;
  /** Unmatched evidence whose reference a call has by now; looks at all that is unmatched. */
  matchableLateResults(limit: number): Promise<readonly TableRow<'late_results'>[]>;
  /** Unmatched evidence received at or before this time, the oldest first; looks at all that is unmatched. */
  unmatchedBefore(before: string, limit: number): Promise<readonly TableRow<'late_results'>[]>;
  /** A call whatever its tenant, for evidence that is signed by its tool. */
  callAnywhere(toolCallId: string): Promise<TableRow<'tool_calls'> | null>;
  /** The id of the call that has this downstream key, for capabilities that take late evidence. */
  callOfKey(downstreamKey: string): Promise<string | null>;
  /** Calls of a capability that the tool knows by this reference; at most two, since two are too many. */
  callsByReference(capability: string, reference: string): Promise<readonly TableRow<'tool_calls'>[]>;
  /** Calls of all tenants whose end is contradicted by evidence. */
  contradictedCount(): Promise<number>;
}
