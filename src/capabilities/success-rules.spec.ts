import { describe, expect, it } from '@jest/globals';
import {
  parsedManifest,
  pointersWith,
  problemsWith,
  READ,
} from '../../test/contract/capabilities/manifest-examples.js';
import { refundCapability } from '../../test/builders/installation.js';
import { SUCCESS } from '../../test/builders/outcome-installation.js';

const kinds = (...evidence: readonly string[]) => [{ subject: 'psp', evidence }];

describe('success criteria of a manifest', () => {
  it('say what is needed, who may give it, and for how long anybody waits', () => {
    const parsed = parsedManifest({ success: SUCCESS });
    expect(parsed.ok && parsed.manifest.success).toEqual({
      criteria: 'refund_settled',
      version: '1',
      withinMs: 3_600_000,
      needs: ['provider_status', 'statement_line'],
      sources: [
        { subject: 'psp', evidence: ['provider_status'], authoritative: false },
        { subject: 'bank', evidence: ['provider_status', 'statement_line'], authoritative: true },
      ],
    });
  });

  it('leave the digest of a manifest without any as it was', () => {
    expect(Object.keys(refundCapability().manifest)).not.toContain('success');
    expect(refundCapability({ success: SUCCESS }).manifestDigest).not.toBe(refundCapability().manifestDigest);
  });

  it("never let the tool's own answer count", () => {
    expect(problemsWith({ success: { ...SUCCESS, needs: ['tool_result'], sources: kinds('tool_result') } })).toEqual([
      expect.stringMatching(/^\/success\/needs\/0: the tool's own answer /),
      expect.stringMatching(/^\/success\/sources\/0\/evidence\/0: the tool's own answer /),
    ]);
  });

  it.each([
    ['a kind that no source may give', { needs: ['photo'] }, ['/success/needs/0']],
    ['a kind listed twice', { needs: ['provider_status', 'provider_status'] }, ['/success/needs/1']],
    [
      'a source listed twice',
      { sources: [...SUCCESS.sources, ...kinds('provider_status')] },
      ['/success/sources/2/subject'],
    ],
    ['no source', { sources: [] }, ['/success/sources']],
    ['no time', { within: '0s' }, ['/success/within']],
  ])('are refused with %s', (_what, changes, pointers) => {
    expect(pointersWith({ success: { ...SUCCESS, ...changes } })).toEqual(expect.arrayContaining(pointers));
  });

  it('are refused for a call that only reads', () => {
    expect(pointersWith({ ...READ, success: SUCCESS })).toEqual(['/success']);
  });
});
