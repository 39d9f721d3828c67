import { durationWord } from './duration.js';
import type { ManifestDraft } from './manifest-schema.js';
import { problemAt } from './manifest-problem.js';
import type { PlacedProblem } from './manifest-problem.js';
import { usesPlaceholder } from './request-rules.js';

/**
 * Contradictions between what a manifest says about its effect and how it means to find out what became of it. A key that could not
 * be read is undefined, and rules that need it are silent.
 */
export function effectProblems(draft: ManifestDraft): readonly PlacedProblem[] {
  return [
    ...ambiguityProblems(draft),
    ...probeNeedProblems(draft),
    ...keyProblems(draft),
    ...lateResultProblems(draft),
    ...probeProblems(draft),
    ...timeProblems(draft),
  ];
}

function* ambiguityProblems(draft: ManifestDraft): Generator<PlacedProblem> {
  const { effect, risk, onAmbiguous } = draft;
  if (effect === undefined || risk === undefined || onAmbiguous === undefined) return;
  const mustSay = effect === 'opaque' || risk === 'high' || risk === 'critical';
  if (onAmbiguous === null && mustSay) {
    yield problemAt(
      '/onAmbiguous',
      'is required for opaque effects and for risk high and critical: reconcile or handoff',
    );
  } else if ((onAmbiguous ?? 'reconcile') === 'reconcile' && effect !== 'read_only' && !hasMeans(draft)) {
    yield problemAt('/onAmbiguous', 'reconcile needs a probe, a callback or a statement: declare one, or say handoff');
  }
}

/** Something can still say what became of it. A key that could not be read may have been meant as one. */
function hasMeans({ probe, callback, statement, idempotency }: ManifestDraft): boolean {
  return probe !== null || callback !== null || statement !== null || idempotency?.replayAsProbe === true;
}

function* probeNeedProblems(draft: ManifestDraft): Generator<PlacedProblem> {
  const { effect, probe, callback, connector } = draft;
  if (effect === 'probeable' && !hasMeans(draft)) {
    yield problemAt('/probe', 'a probeable effect needs a probe, a callback or a statement');
  }
  if (effect === 'opaque' && (probe || callback)) {
    yield problemAt(
      probe ? '/probe' : '/callback',
      'nothing can be learnt about an opaque effect: remove it, or say effect probeable',
    );
  }
  if (effect === 'read_only' && probe) yield problemAt('/probe', 'a read leaves nothing to look up: remove the probe');
  if (effect !== undefined && effect !== 'read_only' && connector?.request.method === 'GET') {
    yield problemAt(
      '/connector/request/method',
      'whatever stands between may repeat a GET: an effect needs another method',
    );
  }
}

function* keyProblems({ effect, idempotency, connector, probe }: ManifestDraft): Generator<PlacedProblem> {
  if (effect === undefined || idempotency === undefined || connector === undefined) return;
  const isCarried = idempotency.header !== null || idempotency.argument !== null;
  if (effect === 'replay_by_key' && !isCarried) {
    yield problemAt('/idempotency', 'replay_by_key needs a header or an argument that carries our key');
  }
  if (effect === 'replay_by_key' && idempotency.keyRetention === null) {
    yield problemAt('/idempotency/keyRetention', 'replay_by_key needs to know how long the provider remembers a key');
  }
  const isSent = isCarried || usesPlaceholder(connector.request, 'downstreamKey');
  if (idempotency.replayAsProbe && effect !== 'replay_by_key') {
    yield problemAt(
      '/idempotency/replayAsProbe',
      'only an effect replay_by_key may be asked about by sending it again',
    );
  }
  if (idempotency.replayAsProbe && probe) {
    yield problemAt(
      '/idempotency/replayAsProbe',
      'a probe that only reads is declared: nothing needs to be sent again',
    );
  }
  if (probe?.strategy === 'query_by_idempotency_key' && !isSent) {
    yield problemAt('/idempotency', 'the probe asks by our key, so a header or an argument must carry it');
  }
}

function* lateResultProblems({
  lateResult,
  pending,
  probe,
  callback,
  effect,
}: ManifestDraft): Generator<PlacedProblem> {
  if (lateResult === 'callback' && callback === null) {
    yield problemAt('/callback', 'a late result by callback needs to know how it is signed and read');
  }
  if (callback && effect === 'read_only')
    yield problemAt('/callback', 'a read leaves nothing to tell later: remove it');
  if (callback && callback.referenceAt === null && callback.keyAt === null) {
    yield problemAt(
      '/callback/keyAt',
      'a signature covers the body alone: say where it names our key, or use referenceAt',
    );
  }
  if (callback) {
    const lists = [callback.happenedWhen, callback.failedWhen, callback.pendingWhen].flatMap((list) => [
      ...new Set(list),
    ]);
    if (new Set(lists).size < lists.length)
      yield problemAt('/callback', 'one word cannot mean two things: the lists overlap');
  }
  if (lateResult !== undefined && lateResult !== 'none' && pending === null) {
    yield problemAt(
      '/pending',
      'a late result needs `pending`: the statuses that announce it and where its reference stands',
    );
  }
  if (lateResult === 'poll' && probe === null) yield problemAt('/probe', 'polling for a late result needs a probe');
}

function* probeProblems({ probe, pending, callback }: ManifestDraft): Generator<PlacedProblem> {
  if (!probe) return;
  const { request, strategy, statusAt } = probe;
  if (request.method !== 'GET') yield problemAt('/probe/request/method', 'a probe only reads: it must be GET');
  if (strategy === 'query_by_idempotency_key' && !usesPlaceholder(request, 'downstreamKey')) {
    yield problemAt('/probe/request', 'must ask by {downstreamKey}');
  }
  if (strategy === 'query_by_external_id') {
    if (!usesPlaceholder(request, 'externalRequestId'))
      yield problemAt('/probe/request', 'must ask by {externalRequestId}');
    if (pending === null && !callback)
      yield problemAt('/pending', 'the probe asks by a reference that only a pending answer or a callback can tell');
  }
  const lists = ['happenedWhen', 'failedWhen', 'pendingWhen'] as const;
  if (statusAt === null) {
    for (const name of lists) {
      if (probe[name].length > 0)
        yield problemAt(`/probe/${name}`, 'without statusAt nothing is compared: found is happened');
    }
    return;
  }
  if (probe.happenedWhen.length === 0)
    yield problemAt('/probe/happenedWhen', 'with statusAt, name the states that mean it happened');
  const words = lists.flatMap((name) => [...new Set(probe[name])]);
  if (new Set(words).size < words.length)
    yield problemAt('/probe', 'one state cannot mean two things: the lists overlap');
}

/** Not finding an effect proves something only after every delay and while the provider still knows the key. */
function* timeProblems({ probe, timeout, quiesce, idempotency }: ManifestDraft): Generator<PlacedProblem> {
  if (!probe?.absenceIsProof || timeout === undefined || quiesce === undefined || idempotency === undefined) return;
  const provenAfterMs = timeout + quiesce + probe.visibilityDelay;
  if (probe.budget < provenAfterMs) {
    const message = `absence is proof only after timeout + quiesce + visibilityDelay: at least ${durationWord(provenAfterMs)}`;
    yield problemAt('/probe/budget', message);
  }
  if (probe.strategy !== 'query_by_idempotency_key') return;
  if (idempotency.keyRetention === null) {
    yield problemAt(
      '/idempotency/keyRetention',
      'absence is proof only while the provider knows the key: say for how long',
    );
  } else if (idempotency.keyRetention < timeout + quiesce + probe.visibilityDelay + probe.budget) {
    yield problemAt(
      '/idempotency/keyRetention',
      'must outlast timeout + quiesce + visibilityDelay + budget of the probe',
    );
  }
}
