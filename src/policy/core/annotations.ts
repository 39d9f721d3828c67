import type { AnnotationValue } from './annotation-values.js';
import { readPolicyId, readReason, readSeconds, readTruth, readWholeNumber, readWord } from './annotation-values.js';
import type { LeaseTerms } from './lease-terms.js';
import { readLeaseTerms } from './lease-terms.js';
import type { Limit } from './limits.js';
import { readLimits } from './limits.js';

export const QUORUM_MAX = 10;
const APPROVAL_TTL_SECONDS = { min: 10, max: 2_592_000 } as const;
const EXECUTION_WINDOW_SECONDS = { min: 10, max: 2_592_000 } as const;

/** What a forbid that people can lift asks for. */
export interface Ask {
  readonly group: string;
  /** Distinct people of the group who must allow. */
  readonly quorum: number;
  /**
   * Null: the policy does not say. Then it is decided when the call is judged, because it depends on the risk of the
   * capability: nobody who counts as the requester may decide about risk high and critical (decision 8).
   */
  readonly notRequester: boolean | null;
  /** Null: the installation's setting. */
  readonly decideWithinMs: number | null;
  readonly executionWindowMs: number | null;
  /** Who is asked as well when nobody has decided by then; absent where the policy names nobody. */
  readonly escalation?: { readonly group: string; readonly afterMs: number };
}

/** What one policy says about itself, besides its Cedar text. */
export interface PolicyAnnotations {
  readonly id: string;
  readonly effect: 'permit' | 'forbid';
  readonly reason: string | null;
  /** Only on a forbid with `@on_deny("requires_confirmation")`; every other forbid is final. */
  readonly ask: Ask | null;
  /** Why a permit lets a capability of risk high or critical run without anybody being asked. */
  readonly unattended: string | null;
  readonly lease: LeaseTerms | null;
  /** Budgets of the calls that a permit permits; each counter once. */
  readonly limits: readonly Limit[];
}

export type PolicyTier = 'permit' | 'forbid.hard' | 'forbid.confirm';

export function tierOf(annotations: PolicyAnnotations): PolicyTier {
  if (annotations.effect === 'permit') return 'permit';
  return annotations.ask === null ? 'forbid.hard' : 'forbid.confirm';
}

export interface AnnotationProblem {
  readonly annotation: string;
  readonly message: string;
}

export type AnnotationsRead =
  | { readonly ok: true; readonly annotations: PolicyAnnotations }
  | { readonly ok: false; readonly problems: readonly AnnotationProblem[] };

/** Annotations that belong to a forbid people can lift. `@quorum` is 1 when left out. */
const LIFTABLE = [
  'on_deny',
  'quorum',
  'approvers',
  'not_requester',
  'approval_ttl',
  'execution_window',
  'escalate_to',
  'escalate_after',
];
const ON_PERMITS = ['unattended', 'lease', 'limit'];
const ON_BOTH = ['id', 'reason'];

/**
 * Reads and checks the annotations of one policy. An annotation without a value counts as an empty text. The answer
 * lists every problem, never only the first: a policy whose annotations are not understood in full is not loaded, since a
 * lost or misspelt one would turn a question to people into something else.
 */
export function readAnnotations(
  effect: 'permit' | 'forbid',
  raw: Iterable<readonly [name: string, text: string | null]>,
  approverGroups: readonly string[],
): AnnotationsRead {
  const problems: AnnotationProblem[] = [];
  const texts = new Map<string, string>();
  for (const [name, text] of raw) {
    const misplaced = placeProblem(effect, name, texts.has(name));
    if (misplaced !== null) problems.push({ annotation: name, message: misplaced });
    else texts.set(name, text ?? '');
  }
  const value = <T>(name: string, read: (text: string) => AnnotationValue<T>): T | null => {
    const text = texts.get(name);
    if (text === undefined) return null;
    const result = read(text);
    if (result.ok) return result.value;
    problems.push({ annotation: name, message: result.message });
    return null;
  };
  const id = value('id', readPolicyId);
  const annotations: PolicyAnnotations = {
    id: id ?? '',
    effect,
    reason: value('reason', readReason),
    ask: readAsk(value, approverGroups),
    unattended: value('unattended', readReason),
    lease: value('lease', readLeaseTerms),
    limits: value('limit', readLimits) ?? [],
  };
  problems.push(...missing(texts), ...escalationProblems(texts, annotations.ask));
  return problems.length === 0 ? { ok: true, annotations } : { ok: false, problems };
}

function placeProblem(effect: 'permit' | 'forbid', name: string, seen: boolean): string | null {
  if (seen) return 'is given twice';
  if (ON_BOTH.includes(name)) return null;
  if (LIFTABLE.includes(name)) return effect === 'forbid' ? null : 'belongs on a forbid: a permit cannot ask anybody';
  if (ON_PERMITS.includes(name)) return effect === 'permit' ? null : 'belongs on a permit';
  return 'is not known';
}

function readAsk(
  value: <T>(name: string, read: (text: string) => AnnotationValue<T>) => T | null,
  approverGroups: readonly string[],
): Ask | null {
  const onDeny = value('on_deny', (text) => readWord(text, ['requires_confirmation']));
  const quorum = value('quorum', (text) => readWholeNumber(text, 1, QUORUM_MAX));
  const group = value('approvers', (text) => readWord(text, approverGroups));
  const notRequester = value('not_requester', readTruth);
  const decideWithinMs = value('approval_ttl', (text) =>
    readSeconds(text, APPROVAL_TTL_SECONDS.min, APPROVAL_TTL_SECONDS.max),
  );
  const executionWindowMs = value('execution_window', (text) =>
    readSeconds(text, EXECUTION_WINDOW_SECONDS.min, EXECUTION_WINDOW_SECONDS.max),
  );
  const wider = value('escalate_to', (text) => readWord(text, approverGroups));
  const afterMs = value('escalate_after', (text) =>
    readSeconds(text, APPROVAL_TTL_SECONDS.min, APPROVAL_TTL_SECONDS.max),
  );
  if (onDeny === null || group === null) return null;
  const escalation = wider === null || afterMs === null ? {} : { escalation: { group: wider, afterMs } };
  return { group, quorum: quorum ?? 1, notRequester, decideWithinMs, executionWindowMs, ...escalation };
}

/** A wider group and a time belong together, and the time lies before the question ends. */
function escalationProblems(texts: ReadonlyMap<string, string>, ask: Ask | null): AnnotationProblem[] {
  const [to, after] = [texts.has('escalate_to'), texts.has('escalate_after')];
  if (to && !after) return [{ annotation: 'escalate_after', message: 'is missing: @escalate_to must say when' }];
  if (after && !to) return [{ annotation: 'escalate_to', message: 'is missing: @escalate_after must say to whom' }];
  if (ask?.escalation === undefined) return [];
  if (ask.escalation.group === ask.group) {
    return [{ annotation: 'escalate_to', message: 'must be another group than the one that is asked' }];
  }
  return ask.decideWithinMs === null || ask.escalation.afterMs < ask.decideWithinMs
    ? []
    : [{ annotation: 'escalate_after', message: 'must be less than @approval_ttl' }];
}

function missing(texts: ReadonlyMap<string, string>): AnnotationProblem[] {
  const problems: AnnotationProblem[] = [];
  if (!texts.has('id')) problems.push({ annotation: 'id', message: 'is missing: every policy names itself' });
  if (texts.has('on_deny') && !texts.has('approvers')) {
    problems.push({ annotation: 'approvers', message: 'is missing: @on_deny must say who is asked' });
  }
  if (!texts.has('on_deny')) {
    for (const name of LIFTABLE) {
      if (texts.has(name)) problems.push({ annotation: name, message: 'has no effect without @on_deny' });
    }
  }
  return problems;
}
