import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CONTRACT_FILE, deliveredContract } from '../../test/builders/resume-examples.js';
import { loadResumeContract } from './resume-contract.js';

const OLDER = 'countersign/0.0.1 events/0 schema/1';
const NOW = 'countersign/0.1.0 events/1 schema/4';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-contract-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** The delivered contract with some texts replaced. */
function fileWith(...changes: readonly (readonly [string, string])[]): string {
  const file = join(dir, 'contract.yaml');
  let text = readFileSync(CONTRACT_FILE, 'utf8');
  for (const [from, to] of changes) {
    if (!text.includes(from)) throw new Error(`the contract does not hold ${from}`);
    text = text.replace(from, to);
  }
  writeFileSync(file, text);
  return file;
}

function problemsOf(file: string): readonly string[] {
  try {
    loadResumeContract(file, NOW);
  } catch (error) {
    const { code, details } = error as { code: string; details: { problems: readonly string[] } };
    return [code, ...details.problems];
  }
  return [];
}

describe('reading the contract', () => {
  it('takes the delivered one', () => {
    expect(loadResumeContract(CONTRACT_FILE, NOW).document).toMatchObject({ contractId: 'countersign/resume' });
  });

  it('names every wrong key and every promise that nothing would keep', () => {
    expect(problemsOf(fileWith(['automatic: look_up', 'automatic: send_again']))[0]).toBe('invalid_settings');
    expect(problemsOf(fileWith(['automatic: look_up', 'automatic: rejudge_and_send']))).toEqual([
      'invalid_settings',
      'points.result_unknown.automatic: must be look_up',
    ]);
    expect(problemsOf(fileWith(['  run_suspended:', '  run_asleep:']))[0]).toBe('invalid_settings');
    expect(problemsOf(fileWith(['version: 1', 'version: 1\nversion: 2']))[0]).toBe('invalid_settings');
    expect(problemsOf(join(dir, 'nowhere.yaml'))).toEqual([
      'invalid_settings',
      'execution.resumeContractFile: the file cannot be read',
    ]);
  });
});

describe('an allowed call that another process left', () => {
  it('goes on, to be judged again, under the delivered contract, whatever version allowed it', () => {
    expect(deliveredContract(NOW).authorized(NOW)).toBe('send');
    expect(deliveredContract(NOW).authorized(OLDER)).toBe('send');
  });

  it.each([
    ['wait', 'wait'],
    ['close', 'close'],
  ] as const)('of an older version may be made to %s', (rule, verdict) => {
    const contract = loadResumeContract(
      fileWith([
        'rejudge_and_send, byCommand: [cancel, stop], olderVersion: rejudge',
        `rejudge_and_send, byCommand: [cancel, stop], olderVersion: ${rule}`,
      ]),
      NOW,
    );
    expect([contract.authorized(NOW), contract.authorized(OLDER)]).toEqual(['send', verdict]);
  });

  it('waits for a command where the contract says so', () => {
    const contract = loadResumeContract(fileWith(['automatic: rejudge_and_send', 'automatic: wait']), NOW);
    expect(contract.authorized(NOW)).toBe('wait');
  });
});
