/** One thing wrong with a manifest: where, and what would be right. `line` counts from 1, null when the place is not in the text. */
export interface ManifestProblem {
  /** RFC 6901 pointer into the manifest; empty for the manifest as a whole. */
  readonly pointer: string;
  /** A sentence for the operator. It names keys and limits, never the values of arguments or secrets. */
  readonly message: string;
  readonly line: number | null;
}

/** A problem before its line is known. */
export type PlacedProblem = Omit<ManifestProblem, 'line'>;

export const problemAt = (pointer: string, message: string): PlacedProblem => ({ pointer, message });

/** The problems without repetition: rules that look at the same place from two sides say the same thing once. */
export function distinctProblems<P extends PlacedProblem>(problems: readonly P[]): readonly P[] {
  return [
    ...new Map(problems.map((problem) => [JSON.stringify([problem.pointer, problem.message]), problem])).values(),
  ];
}
