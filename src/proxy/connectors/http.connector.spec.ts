import { describe, expect, it } from '@jest/globals';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import { capabilityWith } from '../../../test/contract/capabilities/manifest-examples.js';
import type { HttpClient } from '../../egress/http-client.js';
import type { OutboundResult } from '../../egress/outbound-request.js';
import { Credentials } from '../../secrets/credentials.js';
import { HttpConnector } from './http.connector.js';

const SECRET = 'tok-secret-4711';

/** A tool that shows an effect whose every text repeats what nobody may see. */
const REPEATING: OutboundResult = {
  kind: 'response',
  status: 200,
  headers: {},
  body: Buffer.from(JSON.stringify({ data: { id: SECRET, status: 'succeeded', note: `of ${SECRET}` } })),
  bodyTruncated: false,
  evidence: { bytesWritten: true, headersFlushed: true, startedAtMs: 0, endedAtMs: 1 },
};

describe('a look-up that repeats a redacted argument', () => {
  it('brings it neither in the effect nor as the reference', async () => {
    const http = { send: async () => REPEATING } as unknown as HttpClient;
    const connector = new HttpConnector(http, new Credentials({ credentials: {} }), settingsWith({}));
    const capability = capabilityWith({ probe: { referenceAt: '/id' } });
    const { probe } = capability.manifest;
    if (probe === null) throw new Error('the example has a probe');
    const use = { args: {}, downstreamKey: 'k', externalRequestId: null, deadline: 1, masked: [SECRET] };
    const { finding } = await connector.lookUp(capability, probe, use);
    expect(finding).toMatchObject({ finding: 'happened', reference: '[redacted]' });
    expect(JSON.stringify(finding)).not.toContain(SECRET);
  });
});
