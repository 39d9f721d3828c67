import { describe, expect, it } from '@jest/globals';
import { VerifyingInstallation } from '../../../test/builders/outcome-installation.js';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import type { Meaning } from '../../proxy/core/callback-reading.js';
import { LateApplication } from '../../proxy/reconcile/late-application.js';
import { Credentials } from '../../secrets/credentials.js';
import { LateEvidenceMatcher } from './late-evidence.matcher.js';
import { LateEvidenceRecorder } from './late-evidence.recorder.js';

const UNKNOWN: ToolCallCommand = { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null };
const ACCEPTED: ToolCallCommand = {
  kind: 'record_acceptance',
  acceptance: { acceptedAt: '2031-01-01T10:00:01.000Z', basis: 'ack', externalRequestId: 'r-1' },
};

/** A verified call that the tool has answered so, and then callbacks of these meanings, applied together. */
async function told(answer: ToolCallCommand, ...meanings: readonly Meaning[]) {
  const installation = new VerifyingInstallation();
  const { desk, gate, judge } = installation;
  const credentials = new Credentials({ credentials: {} });
  const matcher = new LateEvidenceMatcher(desk);
  const recorder = new LateEvidenceRecorder(desk, matcher, judge, credentials, settingsWith({}));
  const id = await installation.propose();
  await installation.record(id, answer);
  for (const meaning of meanings) {
    await recorder.record({
      source: 'callback',
      capability: 'refund.create',
      id: `cb-${meaning}`,
      bodyDigest: `sha256:${meaning}`,
      told: { meaning, effect: {}, reference: null, key: null },
      tenant: null,
      toolCallId: id,
      actor: { sub: 'callback:refund.create' },
    });
  }
  await new LateApplication(desk, gate).apply(id);
  return { installation, id };
}

describe('evidence that settles a call with success criteria', () => {
  it('opens the verification of what the tool had only accepted', async () => {
    const { installation, id } = await told(ACCEPTED, 'happened');
    expect(installation.store.lastTypes).toEqual(['tool.call.completed', 'outcome.verification_opened']);
    expect(await installation.give(id)).toMatchObject({ outcome: 'confirmed_success' });
  });

  it('ends the verification of what nobody knew, when it says that nothing happened', async () => {
    const { installation, id } = await told(UNKNOWN, 'failed');
    expect(installation.outcome(id)).toMatchObject({ status: 'confirmed_failure', status_reason: 'not_executed' });
  });

  it('opens the verification of what is handed to people because it contradicts itself', async () => {
    const { installation, id } = await told(ACCEPTED, 'happened', 'failed');
    expect((await installation.call(id)).state.status).toBe('manual_handoff');
    expect(installation.outcome(id)?.status).toBe('pending');
  });
});
