import { describe, expect, it, jest } from '@jest/globals';
import { Installation, refundCapability } from '../../../test/builders/installation.js';
import type { Changes } from '../../../test/contract/capabilities/manifest-examples.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import type { LookedUp } from '../connectors/http.connector.js';
import { AcceptedPolling } from './accepted-polling.js';
import type { Inquiry } from './inquiry.js';

const POLLED: Changes = { pending: { status: [202], referenceAt: '/id' }, lateResult: 'poll' };

const found = (finding: LookedUp['finding']): LookedUp => ({ finding, reached: true, evidence: { status: 200 } });
const HAPPENED = found({ finding: 'happened', effect: { id: 're_1' }, reference: 're_1' });

/** A call that its tool has taken on, and a tool that answers look-ups as it is told. */
class TakenOn {
  readonly installation: Installation;
  readonly polling: AcceptedPolling;
  answer: LookedUp | null | Error = found({ finding: 'pending', reference: null });
  asked: string[] = [];

  constructor(changes: Changes = POLLED) {
    this.installation = new Installation({ capabilities: [refundCapability(changes)] });
    const { desk, gate, recorder, log } = this.installation;
    const lookUp: Inquiry['lookUp'] = ({ row }) => {
      this.asked.push(row.tool_call_id);
      return this.answer instanceof Error ? Promise.reject(this.answer) : Promise.resolve(this.answer);
    };
    this.polling = new AcceptedPolling(desk, gate, { lookUp } as unknown as Inquiry, recorder, log);
  }

  async accepted(orderId = 'o-1'): Promise<string> {
    const id = await this.installation.propose({ arguments: { orderId, amountMinor: 1 } });
    const acceptance = { acceptedAt: this.installation.desk.now(), basis: 'ack', externalRequestId: 're_1' } as const;
    const command: ToolCallCommand = { kind: 'record_acceptance', sentAt: null, acceptance };
    await this.installation.record(id, command);
    return id;
  }

  async status(id: string): Promise<string> {
    return (await this.installation.call(id)).state.status;
  }
}

describe('a call that the tool has taken on, where the manifest says that it is asked', () => {
  it('ends with the result that a look-up tells, as the word of the tool', async () => {
    const one = new TakenOn();
    const id = await one.accepted();
    one.answer = HAPPENED;
    expect(await one.polling.tick()).toBe(0);
    expect((await one.installation.call(id)).state).toMatchObject({ status: 'completed', resultBasis: 'direct' });
    expect(one.installation.store.events.at(-1)?.payload).toMatchObject({
      result: { id: 're_1' },
      evidence: { status: 200, polled: true },
    });
  });

  it('fails without an effect when the tool says that it failed', async () => {
    const one = new TakenOn();
    const id = await one.accepted();
    one.answer = found({ finding: 'failed', effect: null, reference: null });
    await one.polling.tick();
    expect((await one.installation.call(id)).state).toMatchObject({
      status: 'failed',
      code: 'failed_at_tool',
      knownEffect: 'none',
      retryable: false,
    });
  });

  it.each([{ finding: 'pending', reference: null }, { finding: 'unclear' }, { finding: 'absent' }] as const)(
    'stays as it is while the answer is $finding',
    async (finding) => {
      const one = new TakenOn();
      const id = await one.accepted();
      one.answer = found(finding);
      const events = one.installation.store.events.length;
      await one.polling.tick();
      expect([await one.status(id), one.installation.store.events.length]).toEqual(['accepted', events]);
    },
  );

  it('is asked about again after a while, and longer and longer after that', async () => {
    const one = new TakenOn();
    await one.accepted();
    const askedAt: number[] = [];
    for (let ms = 0; ms < 8_000; ms += 100) {
      const before = one.asked.length;
      await one.polling.tick();
      if (one.asked.length > before) askedAt.push(ms);
      one.installation.clock.advance(100);
    }
    const pauses = askedAt.slice(1).map((at, index) => at - (askedAt[index] as number));
    expect(pauses.length).toBeGreaterThan(2);
    expect(pauses).toEqual(pauses.toSorted((left, right) => left - right));
  });

  it('is not asked about once its attempt is over', async () => {
    const one = new TakenOn();
    await one.accepted();
    one.installation.clock.advance(24 * 3_600_000);
    await one.polling.tick();
    expect(one.asked).toEqual([]);
  });

  it('holds up no other when it cannot be asked about, and is counted', async () => {
    const one = new TakenOn();
    await one.accepted('o-1');
    await one.accepted('o-2');
    one.answer = new Error('no such host');
    expect(await one.polling.tick()).toBe(2);
    expect(one.asked).toHaveLength(2);
  });
});

describe('a call that the tool has taken on and tells the end of by itself', () => {
  it('is never asked about, nor read for it where no definition polls', async () => {
    const one = new TakenOn({ pending: { status: [202], referenceAt: '/id' } });
    await one.accepted();
    const read = jest.spyOn(one.installation.desk.read, 'callsInStates');
    await one.polling.tick();
    expect([one.asked, read.mock.calls]).toEqual([[], []]);
  });

  it('is left alone beside one that is asked about', async () => {
    const one = new TakenOn();
    const id = await one.accepted();
    jest.spyOn(one.installation.gate, 'bound').mockReturnValue(refundCapability({}));
    await one.polling.tick();
    expect([one.asked, await one.status(id)]).toEqual([[], 'accepted']);
  });
});
