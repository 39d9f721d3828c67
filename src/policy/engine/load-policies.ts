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
 * Reads the folder, looks at the texts before the engine sees them, and puts the set in force when every check passes
 * (policy.md, "Policy life"). Whatever is wrong, the set in force stays. Never rejects.
 */
export async function loadPolicies(evaluator: PolicyEvaluator, sources: PolicySources): Promise<LoadReport> {
  const { files, problems } = await readPolicyFiles(sources.dir);
  const excesses = files.flatMap(({ name, text }) =>
    scanPolicyText(text).map(({ line, message }) => problem('too_large', `line ${line}: ${message}`, { file: name })),
  );
  const refused = [...problems, ...excesses];
  if (refused.length > 0) return refusedReport(refused);
  const { approverGroups, defaults, capabilities } = sources;
  const governed = capabilities.map(onlyWhatPoliciesNeed);
  const candidate: PolicyCandidate = { files, capabilities: governed, approverGroups, defaults };
  return evaluator.load(candidate);
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
