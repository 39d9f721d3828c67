import { describe, expect, it } from '@jest/globals';
import { Installation, refundCapability } from '../../../test/builders/installation.js';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import { completion, failure } from '../../../test/builders/tool-call-examples.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { Breaker } from './breaker.js';

const TIMES = { acceptedAt: '2031-01-01T10:00:02.000Z', sentAt: null };
const UNKNOWN: ToolCallCommand = { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null };
const NOT_SENT: ToolCallCommand = { kind: 'fail', failure: failure({ basis: 'not_sent', code: 'not_sent' }), ...TIMES };
const REJECTED: ToolCallCommand = { kind: 'fail', failure: failure({ basis: 'rejected' }), ...TIMES };
const COMPLETE: ToolCallCommand = { kind: 'complete', completion: completion('direct'), ...TIMES };
const START: ToolCallCommand = {
  kind: 'start_reconciliation',
  start: { strategy: 'query_by_idempotency_key', deadline: '2031-01-01T11:00:00.000Z' },
};
const HAPPENED: ToolCallCommand = {
  kind: 'resolve_happened',
  resolution: { verdict: 'happened', evidenceRefs: ['probe-1'] },
  completion: completion('reconciliation'),
};

let order = 0;

function begin(): Installation {
  const installation = new Installation({
    capabilities: [refundCapability(), refundCapability({ name: 'payout.create' })],
    settings: settingsWith({ execution: { breakerFailuresMax: 3 } }),
  });
  new Breaker(installation.desk, installation.settings, installation.log).start();
  return installation;
}

async function attempt(
  installation: Installation,
  end: ToolCallCommand,
  capability = 'refund.create',
): Promise<string> {
  order += 1;
  const id = await installation.propose({ capability, arguments: { orderId: `o-${order}`, amountMinor: 1 } });
  await installation.record(id, end);
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
  return id;
}

const stateOf = ({ store }: Installation, name = 'refund.create') =>
  store.rows('capabilities').find((row) => row.name === name)?.state;

describe('the breaker', () => {
  it('holds a capability after so many attempts in a row that nobody can account for', async () => {
    const installation = begin();
    for (const end of [UNKNOWN, NOT_SENT]) await attempt(installation, end);
    expect(stateOf(installation)).toBe('active');
    await attempt(installation, UNKNOWN);
    expect(stateOf(installation)).toBe('held');
    expect(installation.store.lastTypes).toEqual(['capability.held']);
    expect(installation.store.units.at(-1)).toMatchObject({ tenant: '*', lane: 'govern' });
  });

  it('names the event that was one too many', async () => {
    const installation = begin();
    for (let n = 0; n < 3; n += 1) await attempt(installation, UNKNOWN);
    const [unknown, held] = installation.store.events.slice(-2);
    expect(held?.envelope.causationId).toBe(unknown?.envelope.eventId);
    expect(held?.payload['reason']).toContain('3 attempts in a row');
  });

  it.each([
    ['a completion', COMPLETE],
    ['a rejection', REJECTED],
  ])('begins to count anew after %s', async (_, end) => {
    const installation = begin();
    for (const next of [UNKNOWN, UNKNOWN, end, UNKNOWN, UNKNOWN]) await attempt(installation, next);
    expect(stateOf(installation)).toBe('active');
  });

  it('counts each capability for itself', async () => {
    const installation = begin();
    for (let n = 0; n < 2; n += 1) {
      await attempt(installation, UNKNOWN);
      await attempt(installation, UNKNOWN, 'payout.create');
    }
    expect([stateOf(installation), stateOf(installation, 'payout.create')]).toEqual(['active', 'active']);
    await attempt(installation, UNKNOWN, 'payout.create');
    expect([stateOf(installation), stateOf(installation, 'payout.create')]).toEqual(['active', 'held']);
  });

  it('does not count what recovery says about a dead process', async () => {
    const installation = begin();
    for (let n = 0; n < 4; n += 1) {
      order += 1;
      const id = await installation.propose({ arguments: { orderId: `o-${order}`, amountMinor: 1 } });
      await installation.recorder.record(await installation.call(id), UNKNOWN, { synthetic: true });
    }
    expect(stateOf(installation)).toBe('active');
  });

  it('lets go once a look-up has settled something', async () => {
    const installation = begin();
    const ids = [];
    for (let n = 0; n < 3; n += 1) ids.push(await attempt(installation, UNKNOWN));
    await installation.record(ids[0] as string, START, HAPPENED);
    for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(stateOf(installation)).toBe('active');
    expect(installation.store.lastTypes).toEqual(['capability.released']);
  });

  it('goes on listening where a hold cannot be written', async () => {
    const installation = begin();
    for (let n = 0; n < 2; n += 1) await attempt(installation, UNKNOWN);
    installation.store.beforeCommit = (unit) => {
      if (unit.appends.some(({ stream }) => stream.kind === 'capability')) throw new TypeError('hunter2');
    };
    await attempt(installation, UNKNOWN);
    expect(installation.log.lines).toMatchObject([{ level: 'error', fields: { error: 'TypeError' } }]);
    expect(JSON.stringify(installation.log.lines)).not.toContain('hunter2');
  });
});
