import { readFile, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { CapabilityRegistry } from '../../capabilities/capability-registry.js';
import { readCases } from './golden-case.js';
import { runCase, type Ask } from './run-case.js';

export const CASES_SUFFIX = '.cases.yaml';

export interface CaseResult {
  readonly file: string;
  /** The name of the case; null: of the file. */
  readonly name: string | null;
  /** Empty when it passed. */
  readonly problems: readonly string[];
}

/** The files of cases in a folder, in order of their names. @throws what reading a folder throws */
export async function caseFilesIn(dir: string): Promise<readonly string[]> {
  const names = await readdir(dir);
  return names
    .filter((name) => name.endsWith(CASES_SUFFIX) && !name.startsWith('.'))
    .toSorted()
    .map((name) => join(dir, name));
}

/** Runs every case of every file; a file that cannot be read is a failure like any other. */
export async function runCases(
  files: readonly string[],
  capabilities: Pick<CapabilityRegistry, 'get'>,
  ask: Ask,
  timeZone?: string,
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  for (const path of files) {
    const file = basename(path);
    const text = await readFile(path, 'utf8').catch(() => null);
    const read = text === null ? ({ ok: false, problems: ['cannot be read'] } as const) : readCases(text);
    if (!read.ok) {
      results.push({ file, name: null, problems: read.problems });
      continue;
    }
    for (const golden of read.cases) {
      const wrong = await runCase(golden, capabilities.get(golden.capability), ask, timeZone);
      const problems = wrong.map(
        ({ what, expected, got }) => `${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`,
      );
      results.push({ file, name: golden.name, problems });
    }
  }
  return results;
}
