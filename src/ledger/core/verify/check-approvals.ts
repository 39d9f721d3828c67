import { jsonDigest } from '../../../domain/digests/digests.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/json-value.js';
import type { BundleScope } from '../bundle/bundle-format.js';
import { placeOf } from './check-streams.js';
import {
  asksAbout,
  consentOf,
  hasQuorum,
  showsArguments,
  type ApprovalFacts,
  type CallFacts,
} from './consent-facts.js';
import type { EntryCheck, OpenEntry } from './entry.js';
import type { FindingCode, Findings } from './findings.js';
import { asNumber, asText } from './part-shapes.js';

interface World {
  readonly calls: Map<string, CallFacts>;
  readonly approvals: Map<string, ApprovalFacts>;
  /** Tool call and attempt → the questions about it. */
  readonly questions: Map<string, ApprovalFacts[]>;
  found(code: FindingCode, message: string): void;
}

/**
 * An approval is consent to exactly what ran: what was shown is what was proposed and sent, distinct people stood behind the grant before
 * it was given, it was used once, and nothing was sent without its authorization. Judges only what the bundle shows.
 */
export function approvalCheck(scope: BundleScope, findings: Findings): EntryCheck {
  const calls = new Map<string, CallFacts>();
  const approvals = new Map<string, ApprovalFacts>();
  const questions = new Map<string, ApprovalFacts[]>();
  const beginsLater = scope.kind === 'range' && scope.from > 0;
  return {
    see(entry) {
      if (entry.kind === 'hidden') return;
      const { toolCallId, streamKind, version } = entry.envelope;
      if (toolCallId !== undefined) {
        const call = callOf(calls, toolCallId, entry.envelope.tenant);
        // What stands before the range, and what is withheld, may hold what would be missed.
        const isCut = beginsLater && streamKind === 'call' && version > 1 && call.proposal === null;
        if (entry.kind === 'withheld' || isCut) call.opaque = true;
      }
      if (entry.kind !== 'open') return;
      const found = (code: FindingCode, message: string): void => findings.add(code, message, placeOf(entry));
      RULES[entry.envelope.eventType]?.({ calls, approvals, questions, found }, entry);
    },
    end() {},
  };
}

function callOf(calls: Map<string, CallFacts>, toolCallId: string, tenant: string): CallFacts {
  const known = calls.get(toolCallId);
  if (known !== undefined) return known;
  const made: CallFacts = { tenant, proposal: null, opaque: false, authorized: new Map(), dispatched: new Set() };
  calls.set(toolCallId, made);
  return made;
}

type Rule = (world: World, entry: OpenEntry) => void;

const RULES: Readonly<Record<string, Rule>> = {
  'tool.call.proposed': (world, { envelope, payload }) => {
    callOf(world.calls, envelope.streamId, envelope.tenant).proposal = payload;
    if (digestOf(payload['arguments']) === payload['argsDigest']) return;
    world.found('arguments_differ', 'The digest of the arguments is not that of the arguments.');
  },
  'approval.required': (world, { envelope, payload }) => {
    const toolCallId = envelope.toolCallId ?? '';
    ask(world, envelope.streamId, toolCallId, payload);
    const proposal = world.calls.get(toolCallId)?.proposal ?? null;
    const isShown = digestOf(payload['shown']) === payload['shownDigest'];
    if (!isShown || (proposal !== null && !showsArguments(payload, proposal))) {
      world.found('shown_differs', 'What people were shown is not what was proposed.');
    }
    if (proposal !== null && !asksAbout(payload, proposal)) {
      world.found('consent_differs', 'People were asked about another action than the one proposed.');
    }
  },
  'approval.vote_recorded': (world, entry) => about(world, entry, (approval) => recordVote(world, entry, approval)),
  'approval.vote_withdrawn': (world, entry) =>
    about(world, entry, (approval) => void approval.votes.delete(subOf(entry.payload))),
  'approval.break_glass_used': (world, entry) =>
    about(world, entry, (approval) => {
      approval.brokenGlass = true;
      checkConsent(world, entry.payload, approval);
    }),
  'approval.granted': (world, entry) =>
    about(world, entry, (approval) => {
      if (approval.wasGranted) world.found('grant_repeated', 'The approval was granted before.');
      if (!approval.brokenGlass && !hasQuorum(approval)) {
        world.found('grant_without_quorum', 'The people who had to allow had not, when the approval was granted.');
      }
      approval.wasGranted = true;
      approval.granted = true;
    }),
  'approval.denied': (world, entry) => about(world, entry, endGrant),
  'approval.expired': (world, entry) => about(world, entry, endGrant),
  'approval.invalidated': (world, entry) => about(world, entry, endGrant),
  'approval.closed': (world, entry) => about(world, entry, endGrant),
  'approval.consumed': (world, entry) =>
    about(world, entry, (approval) => {
      if (approval.consumed) world.found('consumed_twice', 'The approval was used before.');
      else if (!approval.granted) world.found('consumed_without_grant', 'The approval was not granted.');
      approval.consumed = true;
    }),
  'capability.authorized': (world, { envelope, payload }) => {
    const call = callOf(world.calls, envelope.streamId, envelope.tenant);
    call.authorized.set(asNumber(payload['attempt']), asText(payload['basis']));
  },
  'capability.authorization_withdrawn': (world, { envelope }) => {
    callOf(world.calls, envelope.streamId, envelope.tenant).authorized.clear();
  },
  'tool.call.dispatching': checkDispatch,
};

function ask(world: World, approvalId: string, toolCallId: string, question: JsonObject): void {
  const votes = new Map<string, readonly string[] | null>();
  const approval = { question, votes, brokenGlass: false, wasGranted: false, granted: false, consumed: false };
  world.approvals.set(approvalId, approval);
  const attempt = attemptKey(toolCallId, asNumber(question['attempt']));
  world.questions.set(attempt, [...(world.questions.get(attempt) ?? []), approval]);
}

const attemptKey = (toolCallId: string, attempt: number): string => `${toolCallId}/${attempt}`;

/** Nothing is said about an approval whose question is not shown. */
function about(world: World, { envelope }: OpenEntry, judge: (approval: ApprovalFacts) => void): void {
  const approval = world.approvals.get(envelope.streamId);
  if (approval !== undefined) judge(approval);
}

function endGrant(approval: ApprovalFacts): void {
  approval.granted = false;
}

function recordVote(world: World, { payload }: OpenEntry, approval: ApprovalFacts): void {
  const sub = subOf(payload);
  if (approval.votes.has(sub)) world.found('vote_repeated', 'This person has voted before.');
  if (approval.wasGranted) world.found('vote_after_grant', 'The approval was granted before this vote.');
  checkConsent(world, payload, approval);
  const groups = Array.isArray(payload['groups']) ? (payload['groups'] as readonly string[]) : [];
  approval.votes.set(sub, payload['decision'] === 'allow' ? groups : null);
}

function checkConsent(world: World, payload: JsonObject, { question }: ApprovalFacts): void {
  if (payload['consentDigest'] === question['consentDigest']) return;
  world.found('vote_consent_differs', 'What this person decided on is not what the approval asks.');
}

function checkDispatch(world: World, { envelope, payload }: OpenEntry): void {
  const call = callOf(world.calls, envelope.streamId, envelope.tenant);
  const attempt = asNumber(payload['attempt']);
  if (call.dispatched.has(attempt)) world.found('dispatched_twice', 'The attempt was dispatched before.');
  call.dispatched.add(attempt);
  const basis = call.authorized.get(attempt);
  if (basis === undefined) {
    if (!call.opaque) world.found('dispatch_without_authorization', 'Nothing authorized this attempt.');
    return;
  }
  if (basis !== 'approval') return;
  const asked = world.questions.get(attemptKey(envelope.streamId, attempt)) ?? [];
  const approval = asked.find(({ consumed }) => consumed);
  if (approval === undefined) {
    if (!call.opaque) world.found('dispatch_without_approval', 'No approval was used for this attempt.');
    return;
  }
  const consent = consentOf(envelope.streamId, call, approval.question, payload['target']);
  if (call.proposal === null || consent === approval.question['consentDigest']) return;
  world.found('consent_differs', 'What was dispatched is not what people consented to.');
}

function subOf(payload: JsonObject): string {
  const { by } = payload;
  return isJsonObject(by) ? asText(by['sub']) : '';
}

function digestOf(value: JsonValue | undefined): string | null {
  return value === undefined ? null : jsonDigest(value);
}
