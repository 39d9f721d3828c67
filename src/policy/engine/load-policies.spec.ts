import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FILE_LIMITS, loadPolicies, readPolicyFiles } from './load-policies.js';
import type { PolicySources } from './load-policies.js';
import { PolicyEvaluator, refusedStandby, type Standby } from './policy-evaluator.js';
import type { LoadReport, PolicyCandidate } from './policy-set.js';

class RecordingEvaluator extends PolicyEvaluator {
  readonly candidates: PolicyCandidate[] = [];
  override readonly active = null;

  override async decide(): Promise<never> {
    throw new Error('nothing is decided here');
  }

  override async prepare(candidate: PolicyCandidate): Promise<Standby> {
    this.candidates.push(candidate);
    return refusedStandby({
      accepted: true,
      revision: 'r',
      schemaDigest: 's',
      policyIds: [],
      problems: [],
      warnings: [],
      unattended: [],
    });
  }

  override async probe(): Promise<boolean> {
    return true;
  }

  override async stop(): Promise<void> {}
}

const CAPABILITY = { name: 'c', version: '1', risk: 'low', effect: 'opaque', inputSchema: {}, personal: [] } as const;

let dir: string;
let evaluator: RecordingEvaluator;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'policies-'));
  evaluator = new RecordingEvaluator();
});

afterEach(() => rm(dir, { recursive: true }));

const sources = (): PolicySources => ({
  dir,
  approverGroups: ['finance'],
  defaults: { decideWithinMs: 1, executionWindowMs: 2 },
  capabilities: [CAPABILITY],
});
const load = () => loadPolicies(evaluator, sources());
const write = (name: string, content: string | Uint8Array) => writeFile(join(dir, name), content);
const codes = ({ problems }: LoadReport) => problems.map(({ code, file }) => [code, file]);

describe('loading a folder of policies', () => {
  it('hands over every *.cedar file in order of names, and nothing else', async () => {
    await write('b.cedar', 'B');
    await write('a.cedar', 'A');
    await write('.hidden.cedar', 'H');
    await write('README.md', 'R');
    await symlink(join(dir, 'b.cedar'), join(dir, 'c.cedar'));
    await load();
    expect(evaluator.candidates[0]).toEqual({
      files: [
        { name: 'a.cedar', text: 'A' },
        { name: 'b.cedar', text: 'B' },
        { name: 'c.cedar', text: 'B' },
      ],
      approverGroups: ['finance'],
      defaults: { decideWithinMs: 1, executionWindowMs: 2 },
      capabilities: [CAPABILITY],
    });
  });

  it('takes of a capability only what policies need', async () => {
    await write('a.cedar', 'A');
    const manifest = { ...CAPABILITY, connector: { credential: 'payments' } };
    await loadPolicies(evaluator, { ...sources(), capabilities: [manifest] });
    expect(evaluator.candidates[0]?.capabilities).toEqual([CAPABILITY]);
  });

  it('a folder that cannot be read is refused before anything is loaded', async () => {
    const report = await loadPolicies(evaluator, { ...sources(), dir: join(dir, 'none') });
    expect(report.accepted).toBe(false);
    expect(codes(report)).toEqual([['unreadable_folder', null]]);
    expect(evaluator.candidates).toEqual([]);
  });

  it('one file that cannot be read refuses them all, and every problem is told', async () => {
    await write('good.cedar', 'permit(principal, action, resource);');
    await mkdir(join(dir, 'folder.cedar'));
    await write('latin1.cedar', Uint8Array.of(0x2f, 0x2f, 0xe4));
    await write('deep.cedar', `permit(principal, action, resource) when { ${'('.repeat(500)} };`);
    const report = await load();
    expect(codes(report)).toEqual([
      ['unreadable_file', 'folder.cedar'],
      ['unreadable_file', 'latin1.cedar'],
      ['too_large', 'deep.cedar'],
    ]);
    expect(evaluator.candidates).toEqual([]);
  });

  it('files that are too large are not even read', async () => {
    await write('large.cedar', ' '.repeat(FILE_LIMITS.fileBytesMax + 1));
    expect(codes(await load())).toEqual([['too_large', 'large.cedar']]);
  });

  it('all files together are limited', async () => {
    const count = FILE_LIMITS.totalBytesMax / FILE_LIMITS.fileBytesMax + 1;
    for (let index = 0; index < count; index += 1) await write(`${index}.cedar`, '\n'.repeat(FILE_LIMITS.fileBytesMax));
    expect((await readPolicyFiles(dir)).problems.map(({ code }) => code)).toEqual(['too_large']);
  });
});
