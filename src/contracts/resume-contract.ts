import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { CompatibilityVerdict } from '../domain/events/session-events.js';
import {
  AUTOMATIC_ACTIONS,
  contractProblems,
  INTERRUPTION_POINTS,
  RECOVERY_CLASSES,
  VERSION_PARTS,
  VERSION_RULES,
  versionsAgree,
  type ContractRow,
  type ResumeContractDocument,
} from './core/resume-contract.js';

const row = z.strictObject({
  recovery: z.enum(RECOVERY_CLASSES),
  automatic: z.enum(AUTOMATIC_ACTIONS),
  byCommand: z.array(z.string()),
  olderVersion: z.enum(VERSION_RULES),
  undo: z.enum(['none', 'by_command']),
});

const contractSchema = z.strictObject({
  contractId: z.string().min(1).max(128),
  version: z.int().min(1),
  versions: z.strictObject({ mustAgree: z.array(z.enum(VERSION_PARTS)) }),
  points: z.record(z.enum(INTERRUPTION_POINTS), row),
});

/** What may become of a call that was allowed before this process began. */
export type Continuation = 'send' | 'wait' | 'close';

/** The contract in force: what the sweeps ask before they go on with what another process left. */
export class ResumeContract {
  constructor(
    readonly document: ResumeContractDocument,
    /** Of this program. */
    private readonly versionSetId: string,
  ) {}

  /** An allowed call of which nothing was sent. `send` still means: judged again at that moment. */
  authorized(recordedVersionSetId: string): Continuation {
    const { authorized } = this.document.points;
    const { mustAgree } = this.document.versions;
    if (!versionsAgree(recordedVersionSetId, this.versionSetId, mustAgree)) {
      if (authorized.olderVersion === 'close') return 'close';
      if (authorized.olderVersion === 'wait') return 'wait';
    }
    return authorized.automatic === 'wait' ? 'wait' : 'send';
  }

  /** Whether a run that rests at a checkpoint may go on under this program, and between which versions that was decided. */
  run(recordedVersionSetId: string): {
    readonly verdict: CompatibilityVerdict;
    readonly from: string;
    readonly to: string;
  } {
    const { mustAgree } = this.document.versions;
    const agree = versionsAgree(recordedVersionSetId, this.versionSetId, mustAgree);
    // What another version left is read in place: absent fields have their defaults, newer ones were refused on load.
    return { verdict: agree ? 'continue' : 'migrate', from: recordedVersionSetId, to: this.versionSetId };
  }

  /** True: a new owner waits for what a tool has taken on as the old one would have. False: its result is unknown. */
  get waitsForAccepted(): boolean {
    return this.document.points.accepted.automatic === 'wait_for_result';
  }

  rowOf(point: keyof ResumeContractDocument['points']): ContractRow {
    return this.document.points[point];
  }
}

/**
 * Reads and checks the contract. @throws CountersignError `invalid_settings` whose `problems` name everything that is
 * wrong, or that this program would not carry out.
 */
export function loadResumeContract(file: string, versionSetId: string): ResumeContract {
  const document = parsed(file);
  const problems = contractProblems(document);
  if (problems.length > 0) throw refusal(problems);
  return new ResumeContract(document, versionSetId);
}

function parsed(file: string): ResumeContractDocument {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw refusal(['execution.resumeContractFile: the file cannot be read']);
  }
  const yaml = parseDocument(text, { uniqueKeys: true });
  if (yaml.errors.length > 0) throw refusal(yaml.errors.map(({ code }) => `the file is no YAML: ${code}`));
  const read = contractSchema.safeParse(yaml.toJS({ maxAliasCount: 0 }));
  if (read.success) return read.data;
  throw refusal(read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
}

function refusal(problems: readonly string[]): CountersignError {
  const message = `the resume contract is not usable:\n  ${problems.join('\n  ')}`;
  return new CountersignError('invalid_settings', message, { problems: [...problems] });
}
