import type { JsonObject } from '../domain/json/json-value.js';
import type { ManifestDraft } from './manifest-schema.js';
import { problemAt } from './manifest-problem.js';
import type { PlacedProblem } from './manifest-problem.js';
import { requestProblems, usesPlaceholder } from './request-rules.js';

/** What keeps a declared `cancel` from naming one call, from stopping anything, or from being understood. */
export function cancelProblems(draft: ManifestDraft, inputSchema: JsonObject | null): readonly PlacedProblem[] {
  return [...needProblems(draft), ...namingProblems(draft, inputSchema), ...answerProblems(draft)];
}

function* needProblems({ cancel, effect }: ManifestDraft): Generator<PlacedProblem> {
  if (!cancel) return;
  if (effect === 'read_only') yield problemAt('/cancel', 'a read leaves nothing to stop: remove it');
  if (cancel.request.method === 'GET') {
    yield problemAt('/cancel/request/method', 'whatever stands between may repeat a GET: use another method');
  }
}

function* namingProblems(
  { cancel, idempotency, pending, probe }: ManifestDraft,
  inputSchema: JsonObject | null,
): Generator<PlacedProblem> {
  if (!cancel) return;
  const hasExternalRequestId = cancel.by === 'external_id';
  yield* requestProblems(cancel.request, { inputSchema, at: '/cancel/request', hasExternalRequestId });
  const token = hasExternalRequestId ? 'externalRequestId' : 'downstreamKey';
  if (!usesPlaceholder(cancel.request, token)) {
    yield problemAt('/cancel/request', `must name the call it cancels: {${token}} stands nowhere in it`);
  }
  if (hasExternalRequestId && !pending && (probe?.referenceAt ?? null) === null) {
    yield problemAt('/cancel/by', 'nothing tells the reference of the tool: declare `pending` with `referenceAt`');
  }
  const carriesKey = idempotency !== undefined && (idempotency.header !== null || idempotency.argument !== null);
  if (!hasExternalRequestId && idempotency !== undefined && !carriesKey) {
    yield problemAt('/cancel/by', 'the tool does not receive our key: name the header or argument in `idempotency`');
  }
}

function* answerProblems({ cancel }: ManifestDraft): Generator<PlacedProblem> {
  if (!cancel) return;
  const refused = new Set(cancel.refusedStatus);
  for (const [index, status] of cancel.cancelledStatus.entries()) {
    const at = `/cancel/cancelledStatus/${index}`;
    if (status < 200 || status > 299) yield problemAt(at, 'only 200 to 299 can confirm a cancellation');
    if (refused.has(status)) yield problemAt(at, 'is in refusedStatus too');
  }
  for (const [index, status] of cancel.refusedStatus.entries()) {
    const isDefinitive = status >= 400 && status <= 499 && status !== 408 && status !== 425 && status !== 429;
    if (!isDefinitive) yield problemAt(`/cancel/refusedStatus/${index}`, 'only a definitive 4xx can refuse');
  }
  if (cancel.statusAt !== null && cancel.cancelledWhen.length === 0) {
    yield problemAt('/cancel/cancelledWhen', 'is needed beside statusAt: the words that confirm a cancellation');
  }
  if (cancel.statusAt === null && cancel.cancelledWhen.length + cancel.refusedWhen.length > 0) {
    yield problemAt('/cancel/statusAt', 'is needed beside words: where in the answer they stand');
  }
  const refusing = new Set(cancel.refusedWhen);
  for (const [index, word] of cancel.cancelledWhen.entries()) {
    if (refusing.has(word)) yield problemAt(`/cancel/cancelledWhen/${index}`, 'is in refusedWhen too');
  }
}
