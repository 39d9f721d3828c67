import type { DetailedError } from '@cedar-policy/cedar-wasm/nodejs';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { PolicyAnnotations } from '../core/annotations.js';
import type { Cedar } from './cedar-module.js';
import type { PolicyReading } from './cedar-policy-json.js';
import { readPolicyJson } from './cedar-policy-json.js';
import type { PolicyProblem } from './policy-problem.js';
import { problem } from './policy-problem.js';
import type { PolicyFile } from './policy-set.js';

/** One policy of a file: its text without the comments around it, and what we read of it. */
export interface SplitPolicy {
  readonly file: string;
  /** The line of the file it begins on, from 1. */
  readonly line: number;
  readonly text: string;
  readonly reading: PolicyReading;
}

/** A policy whose annotations were understood. */
export interface LintedPolicy extends SplitPolicy {
  readonly annotations: PolicyAnnotations;
}

export interface SplitFile {
  readonly policies: readonly SplitPolicy[];
  readonly problems: readonly PolicyProblem[];
}

/** Cuts a file into its policies with the engine's own parser. The text must have passed `scanPolicyText`. */
export function splitPolicies(cedar: Cedar, file: PolicyFile): SplitFile {
  const parts = cedar.policySetTextToParts(file.text);
  if (parts.type === 'failure') {
    return {
      policies: [],
      problems: parts.errors.map((error) => problem('syntax', located(error, file.text), { file: file.name })),
    };
  }
  const problems: PolicyProblem[] = parts.policy_templates.map(() =>
    problem('template', 'templates (?principal, ?resource) are not supported', { file: file.name }),
  );
  const policies: SplitPolicy[] = [];
  for (const text of parts.policies) {
    const line = lineAtByte(file.text, Buffer.byteLength(file.text.slice(0, Math.max(0, file.text.indexOf(text)))));
    const translated = cedar.policyToJson(text);
    if (translated.type === 'failure') {
      problems.push(
        ...translated.errors.map((error) => problem('syntax', located(error, text, line), { file: file.name })),
      );
    } else {
      const reading = readPolicyJson(translated.json as unknown as JsonObject);
      policies.push({ file: file.name, line, text, reading });
    }
  }
  return { policies, problems };
}

/**
 * The engine's message, its advice and the line, where `text` begins on `firstLine` of its file. The engine repeats policy text only:
 * no request exists when this runs.
 */
export function located(error: DetailedError, text: string, firstLine = 1): string {
  const advice = error.help === null ? '' : ` (${error.help})`;
  const start = error.sourceLocations?.[0]?.start;
  const line = start === undefined ? '' : `line ${firstLine - 1 + lineAtByte(text, start)}: `;
  return `${line}${error.message}${advice}`;
}

function lineAtByte(text: string, byte: number): number {
  return Buffer.from(text, 'utf8').subarray(0, byte).toString('utf8').split('\n').length;
}
