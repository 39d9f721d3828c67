import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { CommandWorld, DOINGS, type Doing } from '../../test/builders/command-world.js';
import { APPROVAL_EDGES } from '../domain/approval/approval.transitions.js';
import { evolveApproval } from '../domain/approval/approval.evolve.js';
import type { DomainEvent } from '../domain/events/catalogue.js';
import { domainEventOf } from '../domain/events/domain-event.js';
import type { CommittedEvent } from '../domain/events/envelope.js';
import { ERRORS } from '../domain/errors/error-codes.js';
import { evolveRun } from '../domain/run/run.evolve.js';
import { RUN_EDGES } from '../domain/run/run.transitions.js';
import { evolveToolCall } from '../domain/tool-call/tool-call.evolve.js';
import { provenNoEffect } from '../domain/tool-call/tool-call.retry.js';
import type { ToolCallState } from '../domain/tool-call/tool-call.state.js';
import { TOOL_CALL_EDGES } from '../domain/tool-call/tool-call.transitions.js';

/** Many sequences on a busy machine. */
jest.setTimeout(60_000);

const WORDS = Object.keys(DOINGS) as Doing['what'][];
/** Drawn evenly a run would seldom hold a call that is far enough to be interesting. */
const LIKELY: readonly Doing['what'][] = [
  'propose',
  'propose',
  'decide',
  'dispatch',
  'dispatch',
  'answer',
  'answer',
  'reconcile',
  'note_sent',
  'cancel',
  'carry_cancel',
];

const draw = fc.noBias(fc.nat({ max: 9_999 }));
const doing = fc.record({ what: fc.constantFrom(...WORDS, ...LIKELY), pick: draw, flavour: draw });
/** What stands in one inner array happens at once. */
const doings: fc.Arbitrary<Doing[][]> = fc.array(fc.array(doing, { minLength: 1, maxLength: 3 }), {
  minLength: 20,
  maxLength: 50,
  size: 'max',
});

async function played(steps: readonly (readonly Doing[])[]): Promise<CommandWorld> {
  const world = new CommandWorld();
  for (let flavour = 1; flavour < 6; flavour += 1) await world.do({ what: 'propose', pick: 0, flavour });
  for (const atOnce of steps) await Promise.all(atOnce.map((step) => world.do(step)));
  return world;
}

/** Everything on the wire passes its deadline, so that nothing is waited for any more. */
async function ended(world: CommandWorld): Promise<CommandWorld> {
  for (let pass = 0; pass < 3; pass += 1) await world.do({ what: 'time_passes', pick: 0, flavour: 4 });
  return world;
}

const holds = (check: (world: CommandWorld) => void, numRuns = 20): Promise<void> =>
  fc.assert(
    fc.asyncProperty(doings, async (steps) => check(await ended(await played(steps)))),
    { numRuns },
  );

type Edges = Readonly<Record<string, Readonly<Partial<Record<string, string>>>>>;

/** The events of each stream of a kind, as `from --event--> to`, that the table does not have. */
function offTheTable<S extends { readonly status: string }>(
  events: readonly CommittedEvent[],
  kind: string,
  table: Edges,
  evolve: (state: S | null, event: DomainEvent) => S,
): string[] {
  const states = new Map<string, S>();
  return events.flatMap(({ envelope, payload }) => {
    if (envelope.streamKind !== kind) return [];
    const before = states.get(envelope.streamId) ?? null;
    const after = evolve(before, domainEventOf(envelope.eventType, payload));
    states.set(envelope.streamId, after);
    const expected = table[envelope.eventType]?.[before?.status ?? 'none'];
    const taken = `${before?.status ?? 'none'} --${envelope.eventType}--> ${after.status}`;
    return expected === after.status ? [] : [taken];
  });
}

interface Step {
  readonly toolCallId: string;
  readonly runId: string | undefined;
  readonly type: string;
  readonly before: ToolCallState | null;
  readonly after: ToolCallState;
}

function stepsOf(world: CommandWorld): Step[] {
  const states = new Map<string, ToolCallState>();
  return world.installation.store.events.flatMap(({ envelope, payload }) => {
    if (envelope.streamKind !== 'call') return [];
    const { streamId: toolCallId, runId, eventType: type } = envelope;
    const before = states.get(toolCallId) ?? null;
    const after = evolveToolCall(before, domainEventOf(type, payload));
    states.set(toolCallId, after);
    return [{ toolCallId, runId, type, before, after }];
  });
}

const twice = (words: readonly string[]): string[] => words.filter((word, index) => words.indexOf(word) !== index);

describe('any sequence of commands, answers and waits', () => {
  it('takes no edge that the tables of runs, calls and approvals do not have', async () => {
    await holds(({ installation: { store } }) => {
      expect(offTheTable(store.events, 'run', RUN_EDGES, evolveRun)).toEqual([]);
      expect(offTheTable(store.events, 'call', TOOL_CALL_EDGES, evolveToolCall)).toEqual([]);
      expect(offTheTable(store.events, 'approval', APPROVAL_EDGES, evolveApproval)).toEqual([]);
    });
  });

  it('sends an attempt once, and another only after a proof that the one before had no effect', async () => {
    await holds((world) => {
      const steps = stepsOf(world);
      const sends = steps.filter(({ type }) => type === 'tool.call.dispatching');
      expect(twice(sends.map(({ toolCallId, after }) => `${toolCallId} ${after.attempt}`))).toEqual([]);
      const back = steps.filter(({ before, after }) => before !== null && after.attempt > before.attempt);
      expect(back.filter(({ type }) => type !== 'tool.call.retry_accepted')).toEqual([]);
      const onProof = ({ before }: Step): boolean =>
        before !== null && (before.status !== 'failed' || before.knownEffect === 'none') && provenNoEffect(before);
      expect(back.filter((step) => !onProof(step))).toEqual([]);
      const consumed = world.installation.store.events.filter(
        ({ envelope }) => envelope.eventType === 'approval.consumed',
      );
      expect(twice(consumed.map(({ envelope }) => envelope.streamId))).toEqual([]);
    });
  });

  it('begins nothing in a run from the request to stop it on, and sees every stop through', async () => {
    await holds(({ installation: { store } }) => {
      const requested = new Set<string>();
      for (const { envelope } of store.events) {
        const { eventType, runId = '' } = envelope;
        if (eventType === 'stop.requested') requested.add(runId);
        const begins = ['tool.call.proposed', 'tool.call.dispatching', 'tool.call.retry_accepted', 'approval.granted'];
        expect([eventType, requested.has(runId) && begins.includes(eventType)]).toEqual([eventType, false]);
      }
      const left = store.rows('runs').filter(({ run_id }) => requested.has(run_id));
      expect(left.filter(({ status }) => status !== 'stopped')).toEqual([]);
      const waiting = store.rows('approvals').filter(({ run_id }) => requested.has(run_id));
      expect(waiting.filter(({ status }) => status === 'pending' || status === 'granted')).toEqual([]);
    });
  });

  it('claims no cancellation that was not asked for and answered', async () => {
    await holds((world) => {
      const cancelled = stepsOf(world).filter(({ type }) => type === 'tool.cancelled');
      expect(cancelled.filter(({ before }) => before?.cancellationRequested !== true)).toEqual([]);
      const failed = stepsOf(world).filter(
        ({ type, after }) => type === 'tool.call.failed' && after.status === 'failed' && after.code === 'cancelled',
      );
      expect(failed.filter(({ after }) => after.status === 'failed' && after.retryable)).toEqual([]);
    });
  });

  it('answers every command with a word that users know', async () => {
    await holds(({ answers }) => {
      expect(answers.filter((answer) => answer !== 'accepted' && !Object.hasOwn(ERRORS, answer))).toEqual([]);
    }, 20);
  });

  it('comes past every command, refused and accepted, so that these properties speak of all of them', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(doings, async (steps) => {
        for (const { envelope } of (await ended(await played(steps))).installation.store.events)
          seen.add(envelope.eventType);
      }),
      { numRuns: 60, seed: 7 },
    );
    const wanted = [
      'control.rejected',
      'stop.requested',
      'run.stopped',
      'run.suspended',
      'run.resumed',
      'tool.cancellation_requested',
      'tool.cancelled',
      'external_action_irreversible',
      'tool.call.retry_accepted',
      'tool.call.result_unknown',
      'tool.call.manual_handoff',
      'manual.handoff_resolved',
      'approval.closed',
      'approval.consumed',
    ];
    expect(wanted.filter((type) => !seen.has(type))).toEqual([]);
  });
});
