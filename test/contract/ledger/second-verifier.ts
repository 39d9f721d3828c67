import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatVerifierKey } from '../../../src/ledger/core/notes/verifier-key.js';
import type { Finding } from '../../../src/ledger/core/verify/findings.js';
import type { Trust } from '../../../src/ledger/core/verify/trust.js';

const SCRIPT = fileURLToPath(new URL('../../verifier/verify.py', import.meta.url));

export interface Job {
  readonly bundle: Uint8Array;
  readonly trust: Trust;
}

export interface SecondVerdict {
  readonly findings: readonly Pick<Finding, 'code' | 'part' | 'position' | 'eventId'>[];
  readonly statements: readonly string[];
}

/** Whether this machine has a Python that can run the second verifier. */
export const hasPython = spawnSync('python3', ['-c', 'import sys; assert sys.version_info >= (3, 9)']).status === 0;

/** What the verifier in the other language says about each bundle, in one process. */
export function judgedElsewhere(jobs: readonly Job[], ...flags: string[]): SecondVerdict[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'second-verifier-'));
  try {
    const batch = jobs.map(({ bundle, trust }, at) => {
      const file = path.join(folder, `${at}.zip`);
      writeFileSync(file, bundle);
      return { bundle: file, ...trustInText(trust) };
    });
    const list = path.join(folder, 'batch.json');
    writeFileSync(list, JSON.stringify(batch));
    const ran = spawnSync('python3', ['-B', SCRIPT, ...flags, '--batch', list], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    if (ran.status !== 0) throw new Error(`the second verifier failed: ${ran.stderr}`);
    return ran.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as SecondVerdict);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function trustInText({ log, witnesses, witnessesMin, kept }: Trust): object {
  const windows = log.flatMap(({ key, window }) => (window === undefined ? [] : [[formatVerifierKey(key), [window]]]));
  return {
    keys: log.map(({ key }) => formatVerifierKey(key)),
    witnesses: witnesses.map(formatVerifierKey),
    witnessesMin: witnessesMin ?? null,
    kept: kept ?? [],
    windows: Object.fromEntries(windows) as object,
  };
}
