/** What is wrong and where; `code` is stable, no part of it holds a value. */
export interface CodecProblem {
  readonly code: string;
  readonly message: string;
  /** RFC 6901 pointer. */
  readonly path: string;
  /** Of `schema_version_unsupported`. */
  readonly found?: number;
  readonly current?: number;
}

export type CodecResult<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: CodecProblem };

/** How a reader leaves; never seen outside this folder. */
class Refused extends Error {
  constructor(readonly problem: CodecProblem) {
    super(problem.code);
  }
}

export function refuseField(problem: CodecProblem): never {
  throw new Refused(problem);
}

/** Runs a reader; whatever it meets is an answer. `otherwise` names what another error means, such as a getter that throws. */
export function attempt<T>(read: () => T, otherwise: string): CodecResult<T> {
  try {
    return { ok: true, value: read() };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, problem: error.problem };
    return { ok: false, problem: { code: otherwise, message: 'The state cannot be read.', path: '' } };
  }
}
