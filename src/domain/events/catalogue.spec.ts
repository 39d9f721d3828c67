import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { APPROVAL_HISTORIES, APPROVAL_ROWS, approvalIn } from '../../../test/builders/approval-examples.js';
import { OUTCOME_HISTORIES, OUTCOME_ROWS, outcomeIn } from '../../../test/builders/outcome-examples.js';
import { RUN_HISTORIES, RUN_ROWS, runIn } from '../../../test/builders/run-examples.js';
import { CALL_ROWS, callsIn, HISTORIES } from '../../../test/builders/tool-call-examples.js';
import { decideApproval } from '../approval/approval.decide.js';
import { APPROVAL_STATUSES } from '../approval/approval.state.js';
import { canonicalJson } from '../json/canonical-json.js';
import { decideOutcome } from '../outcome/outcome.decide.js';
import { OUTCOME_STATUSES } from '../outcome/outcome.state.js';
import { decideRun } from '../run/run.decide.js';
import { RUN_STATUSES } from '../run/run.state.js';
import { decideToolCall } from '../tool-call/tool-call.decide.js';
import { SITUATIONS } from '../tool-call/tool-call.transitions.js';
import { CATALOGUE, STREAM_KINDS, type DomainEvent, type EventDefinition, type EventType } from './catalogue.js';
import type { Decided } from './decided.js';
import { payloadProblem } from './payload-shape.js';

const TYPES = Object.keys(CATALOGUE) as EventType[];
const definitionOf = (type: EventType): EventDefinition => CATALOGUE[type];

/** Names that the specification fixes and that are not past tense: they name what the call now is. */
const FIXED_NAMES = [
  'tool.call.dispatching',
  'tool.call.result_unknown',
  'tool.call.manual_handoff',
  'external_action_irreversible',
  'subagent.late_result',
  'feedback.inconclusive',
];
const IRREGULAR = ['set', 'held', 'taken', 'withdrawn', 'met', 'irrevocable'];

const eventsOf = (decided: Decided): readonly DomainEvent[] => (decided.ok ? decided.events : []);

/** Every event that the machines emit for their examples, and every event of the histories. */
const EMITTED: readonly DomainEvent[] = [
  ...[HISTORIES, APPROVAL_HISTORIES, RUN_HISTORIES, OUTCOME_HISTORIES].flatMap(
    (histories) => Object.values(histories).flat(2) as DomainEvent[],
  ),
  ...CALL_ROWS.flatMap(({ trial }) =>
    SITUATIONS.flatMap(callsIn).flatMap((example) => {
      const state = example === null ? null : (trial.given?.(example) ?? example);
      return eventsOf(decideToolCall(state, trial.command(state)));
    }),
  ),
  ...APPROVAL_ROWS.flatMap(({ trial }) =>
    [null, ...APPROVAL_STATUSES.map(approvalIn)].flatMap((example) => {
      const state = example === null ? null : (trial.given?.(example) ?? example);
      return eventsOf(decideApproval(state, trial.command(state)));
    }),
  ),
  ...OUTCOME_ROWS.flatMap(({ trial }) =>
    [null, ...OUTCOME_STATUSES.map(outcomeIn)].flatMap((example) => {
      const state = example === null ? null : (trial.given?.(example) ?? example);
      return eventsOf(decideOutcome(state, trial.command(state)));
    }),
  ),
  ...RUN_ROWS.flatMap(({ trial }) =>
    [null, ...RUN_STATUSES.map(runIn)].flatMap((example) => {
      const state = example === null ? null : (trial.given?.(example) ?? example);
      return eventsOf(decideRun(state, trial.command(state)));
    }),
  ),
];

describe('the event catalogue', () => {
  it.each(TYPES.filter((type) => !FIXED_NAMES.includes(type)))(
    'names %s in dotted lower case and past tense',
    (type) => {
      expect(type).toMatch(/^[a-z]+(_[a-z]+)?(\.[a-z]+)*\.[a-z_]+$/);
      const words = type.slice(type.lastIndexOf('.') + 1).split('_');
      expect(words.some((word) => word.endsWith('ed') || IRREGULAR.includes(word))).toBe(true);
    },
  );

  it('keeps every name and version that was ever registered', () => {
    const known = JSON.parse(
      readFileSync(new URL('../../../test/vectors/event-types.json', import.meta.url), 'utf8'),
    ) as Readonly<Record<string, number>>;
    const kept = Object.entries(known).map(([type, version]) => {
      const now = Object.hasOwn(CATALOGUE, type) ? definitionOf(type as EventType).schemaVersion : 0;
      return [type, now >= version];
    });
    expect(kept.filter(([, present]) => !present)).toEqual([]);
    expect(kept.length).toBeGreaterThan(50);
  });

  it.each(TYPES)('says of %s who may state it, in which stream and from which version', (type) => {
    const { producers, stream, schemaVersion } = definitionOf(type);
    expect(producers.length).toBeGreaterThan(0);
    expect(new Set(producers).size).toBe(producers.length);
    expect(STREAM_KINDS).toContain(stream);
    expect(schemaVersion).toBeGreaterThanOrEqual(1);
  });

  it.each<[string, string]>([
    ['run.', 'run'],
    ['stop.', 'run'],
    ['model.', 'run'],
    ['tool.', 'call'],
    ['external_action_irreversible', 'call'],
    ['policy.decided', 'call'],
    ['capability.authoriz', 'call'],
    ['reconciliation.', 'call'],
    ['manual.', 'call'],
    ['approval.', 'approval'],
    ['reasoning.', 'run'],
    ['artifact.', 'run'],
    ['subagent.', 'run'],
    ['outcome.', 'outcome'],
    ['feedback.', 'outcome'],
    ['control.', 'command'],
  ])('keeps %s* in the stream %s', (prefix, stream) => {
    const streams = TYPES.filter((type) => type.startsWith(prefix)).map((type) => definitionOf(type).stream);
    expect(new Set(streams)).toEqual(new Set([stream]));
  });

  it.each(TYPES)('gives %s fields that can be told apart from anything else', (type) => {
    const { shape } = definitionOf(type);
    expect(payloadProblem(shape, { 'no such field': 1 })).toBe('unknown field no such field');
    const lists = Object.values(shape).filter((kind) => typeof kind !== 'string');
    expect(lists.filter((words) => words.length === 0 || new Set(words).size !== words.length)).toEqual([]);
  });
});

describe('the machines and the catalogue', () => {
  it('agree: every payload that a machine emits fits the shape of its type', () => {
    const misfits = EMITTED.map(({ type, payload }) => [type, payloadProblem(definitionOf(type).shape, payload)]);
    expect(misfits.filter(([, problem]) => problem !== null)).toEqual([]);
  });

  it('agree: every payload has one canonical text, so nothing in it is undefined', () => {
    for (const { payload } of EMITTED) expect(JSON.parse(canonicalJson(payload))).toEqual(payload);
  });

  it('agree: every type of the three streams is emitted by its machine', () => {
    const emitted = new Set(EMITTED.map(({ type }) => type));
    const silent = TYPES.filter(
      (type) => ['call', 'approval', 'run'].includes(definitionOf(type).stream) && !emitted.has(type),
    );
    expect(silent).toEqual([]);
  });
});
