import type { ManifestDraft } from './manifest-schema.js';
import { problemAt, type PlacedProblem } from './manifest-problem.js';

/** Said by the proxy itself or by nobody: no source may be given these. */
const RESERVED_KINDS: Readonly<Record<string, string>> = {
  tool_result: "the tool's own answer says how far the command got and never what the world shows",
  operator_finding: 'is what an operator finds out about a handoff; it needs no entry',
};

/** Success criteria that nobody could meet, or that the tool would confirm by itself. */
export function* successProblems({ success, effect }: ManifestDraft): Generator<PlacedProblem> {
  if (success === undefined || success === null) return;
  if (effect === 'read_only') yield problemAt('/success', 'a call that only reads has no outcome to verify');
  const given = new Set(success.sources.flatMap(({ evidence }) => evidence));
  for (const [index, kind] of success.needs.entries()) {
    const at = `/success/needs/${index}`;
    if (success.needs.indexOf(kind) !== index) yield problemAt(at, 'is listed twice');
    if (Object.hasOwn(RESERVED_KINDS, kind)) yield problemAt(at, RESERVED_KINDS[kind] as string);
    else if (!given.has(kind)) yield problemAt(at, 'no source may give this kind of evidence');
  }
  const subjects = success.sources.map(({ subject }) => subject);
  for (const [index, { subject, evidence }] of success.sources.entries()) {
    if (subjects.indexOf(subject) !== index) yield problemAt(`/success/sources/${index}/subject`, 'is listed twice');
    for (const [place, kind] of evidence.entries()) {
      if (!Object.hasOwn(RESERVED_KINDS, kind)) continue;
      yield problemAt(`/success/sources/${index}/evidence/${place}`, RESERVED_KINDS[kind] as string);
    }
  }
}
