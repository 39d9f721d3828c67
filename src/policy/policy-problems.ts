import { CountersignError } from '../domain/errors/countersign-error.js';

interface Problem {
  readonly file: string | null;
  readonly policyId: string | null;
  readonly code: string;
  readonly message: string;
}

/** The refusal of a set, with every problem. */
export function refusal(report: { readonly problems: readonly Problem[] }): CountersignError {
  const problems = problemLines(report.problems);
  return new CountersignError('policy_set_refused', `the policy set is not usable:\n  ${problems.join('\n  ')}`, {
    problems,
  });
}

/** One line for each problem, as people read it. */
export function problemLines(problems: readonly Problem[]): string[] {
  return problems.map(({ file, policyId, code, message }) =>
    [file, policyId, `${code}: ${message}`].filter((part) => part !== null).join(' '),
  );
}
