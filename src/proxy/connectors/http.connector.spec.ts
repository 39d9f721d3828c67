import { describe, expect, it } from '@jest/globals';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import { capabilityWith } from '../../../test/contract/capabilities/manifest-examples.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { HttpClient } from '../../egress/http-client.js';
import type { OutboundResult } from '../../egress/outbound-request.js';
import { Credentials } from '../../secrets/credentials.js';
import type { UpstreamCredentials } from '../../secrets/upstream/upstream-credentials.js';
import type { LeaseCredentials } from './lease-credentials.js';
import { HttpConnector, type Use } from './http.connector.js';

const SECRET = 'tok-secret-4711';

/** A tool that repeats, in whatever it answers, what nobody may see. */
const answering = (status: number, body: JsonObject): HttpConnector => {
  const result: OutboundResult = {
    kind: 'response',
    status,
    headers: {},
    body: Buffer.from(JSON.stringify(body)),
    bodyTruncated: false,
    evidence: { bytesWritten: true, headersFlushed: true, startedAtMs: 0, endedAtMs: 1 },
  };
  const http = { send: async () => result } as unknown as HttpClient;
  const upstream = { ready: () => null } as unknown as UpstreamCredentials;
  const leased = {} as LeaseCredentials;
  return new HttpConnector(http, new Credentials({ credentials: {} }), settingsWith({}), upstream, leased);
};

const USE: Use = {
  args: { orderId: 'o-1', amountMinor: 1, currency: 'EUR' },
  downstreamKey: 'k',
  externalRequestId: null,
  deadline: 1,
  masked: [SECRET],
};

describe('a tool that repeats a redacted argument', () => {
  it('brings it neither in the effect that a look-up shows nor as its reference', async () => {
    const capability = capabilityWith({ probe: { referenceAt: '/id' } });
    const { probe } = capability.manifest;
    if (probe === null) throw new Error('the example has a probe');
    const data = { id: `r-${SECRET}`, status: 'succeeded', note: `of ${SECRET}` };
    const { finding } = await answering(200, { data }).lookUp(capability, probe, USE);
    expect(finding).toMatchObject({ finding: 'happened', reference: null, effect: { note: 'of [redacted]' } });
    expect(JSON.stringify(finding)).not.toContain(SECRET);
  });

  it('has given no reference: by what is left of one it would be asked about something else', async () => {
    const capability = capabilityWith({ pending: { status: [202], referenceAt: '/ref' } });
    const carry = async (ref: string) => (await answering(202, { ref }).carryOut(capability, USE)).observation;
    expect(await carry('r-1')).toMatchObject({ class: 'accepted', externalRequestId: 'r-1' });
    expect(await carry(`r-${SECRET}`)).toEqual({ class: 'unknown', cause: 'accepted_without_reference', status: 202 });
  });
});
