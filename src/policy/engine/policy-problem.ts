/** Something wrong with a policy set, in words for the operator who wrote it. Never holds a request's values. */
export interface PolicyProblem {
  readonly code: PolicyProblemCode;
  /** The file's name without its folder; null when the problem is of the set. */
  readonly file: string | null;
  readonly policyId: string | null;
  readonly message: string;
}

export type PolicyProblemCode =
  | 'unreadable_folder'
  | 'unreadable_file'
  | 'too_large'
  | 'no_policies'
  | 'syntax'
  | 'template'
  | 'annotation'
  | 'duplicate_id'
  | 'duplicate_capability'
  | 'schema'
  | 'validation'
  | 'unknown_capability'
  | 'never_lifted'
  | 'nobody_asked'
  | 'self_test'
  | 'engine_crashed'
  | 'unreadable_arguments'
  | 'personal_argument'
  | 'limit';

export function problem(
  code: PolicyProblemCode,
  message: string,
  where: { readonly file?: string; readonly policyId?: string } = {},
): PolicyProblem {
  return { code, file: where.file ?? null, policyId: where.policyId ?? null, message };
}
