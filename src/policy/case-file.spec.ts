import { describe, expect, it } from '@jest/globals';
import { Installation, refundCapability } from '../../test/builders/installation.js';
import type { CommittedEvent } from '../domain/events/envelope.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { CaseFile, RecordTampered } from './case-file.js';

async function begin() {
  const installation = new Installation({ capabilities: [refundCapability({ redact: ['/note'] })] });
  const id = await installation.propose({
    arguments: { orderId: 'o-1', amountMinor: 500, note: 'private words' },
    reason: 'please',
  });
  return { installation, id, file: new CaseFile(installation.store) };
}

/** Changes an event as somebody could who can write to the disk. */
function change(installation: Installation, type: string, more: JsonObject, envelope: object = {}): void {
  const { events } = installation.store;
  const index = events.findIndex((event) => event.envelope.eventType === type);
  const event = events[index] as CommittedEvent;
  events[index] = { ...event, payload: { ...event.payload, ...more }, envelope: { ...event.envelope, ...envelope } };
}

describe('the papers of a call', () => {
  it('are what was proposed and asked of the policy, in clear', async () => {
    const { installation, id, file } = await begin();
    expect(await file.open(await installation.call(id))).toMatchObject({
      args: { orderId: 'o-1', amountMinor: 500, currency: 'EUR', note: 'private words' },
      redacted: ['/note'],
      agentReason: 'please',
      requesterSubjects: ['alice', 'agent-7'],
      target: { method: 'POST' },
      request: { ...installation.policy.asked[0] },
    });
  });

  it.each([
    ['other arguments', 'tool.call.proposed', { arguments: { orderId: 'o-2', amountMinor: 500 } }],
    ['another digest', 'tool.call.proposed', { argsDigest: 'sha256:other' }],
    ['another key', 'tool.call.proposed', { downstreamKey: 'cs_other' }],
    ['another definition', 'tool.call.proposed', { manifestDigest: 'sha256:other' }],
  ] as const)('are refused where the record says %s', async (_, type, more) => {
    const { installation, id, file } = await begin();
    change(installation, type, more);
    await expect(file.open(await installation.call(id))).rejects.toThrow(RecordTampered);
  });

  it('are refused where both record and digest were changed together', async () => {
    const { installation, id, file } = await begin();
    const call = await installation.call(id);
    const other = await installation.propose({ arguments: { orderId: 'o-2', amountMinor: 9 } });
    const { row } = await installation.call(other);
    const swapped = { ...call, row: { ...call.row, proposed_event_id: row.proposed_event_id } };
    await expect(file.open(swapped)).rejects.toThrow('cannot be read');
  });

  it.each(['proposed_event_id', 'decided_event_id'] as const)('are refused where %s names nothing', async (column) => {
    const { installation, id, file } = await begin();
    const call = await installation.call(id);
    await expect(file.open({ ...call, row: { ...call.row, [column]: 'evt_0' } })).rejects.toThrow(RecordTampered);
  });

  it('are refused where the record cannot be unsealed, and not where the database cannot be read', async () => {
    const { installation, id, file } = await begin();
    const call = await installation.call(id);
    installation.store.read.event = async () => {
      throw new Error('does not unseal');
    };
    await expect(file.open(call)).rejects.toThrow(RecordTampered);
    installation.store.read.event = async () => {
      throw Object.assign(new Error('busy'), { code: 'SQLITE_BUSY' });
    };
    await expect(file.open(call)).rejects.toThrow('busy');
  });

  it('never repeat what they hold in a refusal', async () => {
    const { installation, id, file } = await begin();
    change(installation, 'tool.call.proposed', { arguments: { note: 'hunter2' } });
    const refusal: unknown = await file.open(await installation.call(id)).catch((error: unknown) => error);
    expect(String(refusal)).not.toMatch(/hunter2|private/);
  });
});

describe('holding rows against their events', () => {
  it('passes what the product wrote itself', async () => {
    const { installation, id, file } = await begin();
    await expect(file.verify(await installation.call(id), null)).resolves.toBeUndefined();
    installation.policy.ask();
    const asked = await installation.propose({ arguments: { orderId: 'o-3', amountMinor: 1 } });
    await expect(
      file.verify(await installation.call(asked), await installation.approvalOf(asked)),
    ).resolves.toBeUndefined();
  });

  it('refuses a row that says otherwise, and an approval of another call', async () => {
    const { installation, id, file } = await begin();
    const call = await installation.call(id);
    await expect(file.verify({ ...call, state: { ...call.state, risk: 'low' } }, null)).rejects.toThrow(RecordTampered);
    installation.policy.ask();
    const asked = await installation.propose({ arguments: { orderId: 'o-3', amountMinor: 1 } });
    const approval = await installation.approvalOf(asked);
    await expect(file.verify(call, approval)).rejects.toThrow(RecordTampered);
    const granted = { ...approval, state: { ...approval.state, rules: [] } };
    await expect(file.verify(await installation.call(asked), granted)).rejects.toThrow(RecordTampered);
  });

  it('refuses a call without any events', async () => {
    const { installation, id, file } = await begin();
    const call = await installation.call(id);
    installation.store.events.length = 0;
    await expect(file.verify(call, null)).rejects.toThrow(RecordTampered);
  });
});
