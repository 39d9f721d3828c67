import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObligationDefaults } from '../core/obligations.js';
import type { PolicyEvaluator } from './policy-evaluator.js';
import type { PolicyProblem } from './policy-problem.js';
import { problem } from './policy-problem.js';
import type { LoadReport, PolicyCandidate, PolicyFile } from './policy-set.js';
import { refusedReport } from './policy-set.js';
import { scanPolicyText } from './policy-text-scan.js';
import type { GovernedCapability } from './schema.js';

export const FILE_LIMITS = { filesMax: 500, fileBytesMax: 1_048_576, totalBytesMax: 8_388_608 } as const;

/** Where a policy set comes from, and what it is about. */
export interface PolicySources {
  /** Absolute path of the folder of `*.cedar` files; other files and names that begin with a dot are passed over. */
  readonly dir: string;
  readonly approverGroups: readonly string[];
  readonly defaults: ObligationDefaults;
  readonly capabilities: readonly GovernedCapability[];
}

/**
 * Reads the folder and puts the set in force when every check passes. Whatever is wrong, the set in force stays. Never
 * rejects.
 */
export async function loadPolicies(evaluator: PolicyEvaluator, sources: PolicySources): Promise<LoadReport> {
  const read = candidateFrom(await readPolicyFiles(sources.dir), sources);
  return read.ok ? evaluator.load(read.candidate) : read.report;
}

export type CandidateRead =
  { readonly ok: true; readonly candidate: PolicyCandidate } | { readonly ok: false; readonly report: LoadReport };

/** Policy texts with what they are about, once they have been looked at: the engine sees none that could harm it. */
export function candidateFrom({ files, problems }: FilesRead, sources: Omit<PolicySources, 'dir'>): CandidateRead {
  const excesses = files.flatMap(({ name, text }) =>
    scanPolicyText(text).map(({ line, message }) => problem('too_large', `line ${line}: ${message}`, { file: name })),
  );
  const refused = [...problems, ...excesses];
  if (refused.length > 0) return { ok: false, report: refusedReport(refused) };
  const { approverGroups, defaults, capabilities } = sources;
  const governed = capabilities.map(onlyWhatPoliciesNeed);
  return { ok: true, candidate: { files, capabilities: governed, approverGroups, defaults } };
}

/** Files that came with a request, held to the limits of those in a folder, in order of their names. */
export function givenPolicyFiles(given: readonly PolicyFile[]): FilesRead {
  const files = given.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const problems: PolicyProblem[] = [];
  for (const [index, { name, text }] of files.entries()) {
    const where = { file: name };
    if (!name.endsWith('.cedar') || name.startsWith('.')) {
      problems.push(problem('unreadable_file', 'a policy file is named *.cedar', where));
    }
    if (files[index - 1]?.name === name) problems.push(problem('unreadable_file', 'two files have this name', where));
    if (Buffer.byteLength(text) > FILE_LIMITS.fileBytesMax) {
      problems.push(problem('too_large', `the file holds more than ${FILE_LIMITS.fileBytesMax} bytes`, where));
    }
  }
  if (files.length > FILE_LIMITS.filesMax) {
    problems.push(problem('too_large', `more than ${FILE_LIMITS.filesMax} policy files`));
  }
  return { files, problems };
}

export interface FilesRead {
  readonly files: readonly PolicyFile[];
  readonly problems: readonly PolicyProblem[];
}

/** The policy files of a folder in order of their names, or everything that keeps them from being read. Never rejects. */
export async function readPolicyFiles(dir: string): Promise<FilesRead> {
  const names = await namesIn(dir);
  if (names === null)
    return { files: [], problems: [problem('unreadable_folder', 'the policy folder cannot be read')] };
  if (names.length > FILE_LIMITS.filesMax) {
    return { files: [], problems: [problem('too_large', `more than ${FILE_LIMITS.filesMax} policy files`)] };
  }
  const read = await Promise.all(names.map((name) => readPolicyFile(dir, name)));
  const files = read.filter((each): each is PolicyFile => !('code' in each));
  const problems = read.filter((each): each is PolicyProblem => 'code' in each);
  const total = files.reduce((bytes, { text }) => bytes + Buffer.byteLength(text), 0);
  if (total > FILE_LIMITS.totalBytesMax) {
    problems.push(problem('too_large', `the policy files hold more than ${FILE_LIMITS.totalBytesMax} bytes`));
  }
  return { files, problems };
}

async function namesIn(dir: string): Promise<string[] | null> {
  try {
    const names = await readdir(dir);
    return names.filter((name) => name.endsWith('.cedar') && !name.startsWith('.')).toSorted();
  } catch {
    return null;
  }
}

async function readPolicyFile(dir: string, name: string): Promise<PolicyFile | PolicyProblem> {
  const path = join(dir, name);
  try {
    const { size } = await stat(path);
    if (size > FILE_LIMITS.fileBytesMax) {
      return problem('too_large', `the file holds more than ${FILE_LIMITS.fileBytesMax} bytes`, { file: name });
    }
    const bytes = await readFile(path);
    return { name, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return problem('unreadable_file', 'the file cannot be read as UTF-8 text', { file: name });
  }
}

/** A manifest holds much that a policy thread has no business with. */
function onlyWhatPoliciesNeed(capability: GovernedCapability): GovernedCapability {
  const { name, version, risk, effect, inputSchema, personal } = capability;
  return { name, version, risk, effect, inputSchema, personal };
}
