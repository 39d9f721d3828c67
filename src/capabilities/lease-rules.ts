import { resolveBaseUrl } from './base-url.js';
import { problemAt, type PlacedProblem } from './manifest-problem.js';
import type { ManifestDraft } from './manifest-schema.js';

type Upstreams = Readonly<Record<string, string>>;

/** The scope of a look-up; an act never has it. */
export const QUERY_SCOPE = 'query';

/** What `lease` and `execution` contradict, in each other and in the rest of the manifest. */
export function* leaseProblems(draft: ManifestDraft, upstreams: Upstreams): Generator<PlacedProblem> {
  yield* executionProblems(draft, upstreams);
  const { lease, execution, connector, idempotency, cancel } = draft;
  if (lease === undefined || lease === null) return;
  if (execution === null) yield problemAt('/execution', 'is missing: a lease records where and how far it is trusted');
  if (execution?.sandboxTrustLevel === 'low' && lease.mode !== 'sign_on_behalf') {
    yield problemAt('/lease/mode', 'an environment of low trust only gets signed requests: sign_on_behalf');
  }
  if (lease.ttl > lease.maxTtl) yield problemAt('/lease/ttl', 'is longer than maxTtl');
  for (const [index, scope] of lease.scopes.entries()) {
    if (lease.scopes.indexOf(scope) !== index) yield problemAt(`/lease/scopes/${index}`, 'is listed twice');
    if (scope === QUERY_SCOPE)
      yield problemAt(`/lease/scopes/${index}`, 'is the scope of look-ups and of nothing else');
  }
  if (idempotency?.replayAsProbe === true) {
    yield problemAt(
      '/idempotency/replayAsProbe',
      'a lease is burnt by the one attempt: nothing may send the effect again',
    );
  }
  if (lease.mode === 'token') {
    yield* tokenProblems(draft);
    if (cancel) yield problemAt('/cancel', 'has no credential of its own, and a token is for the effect alone');
    return;
  }
  if (connector !== undefined && connector.credential === null) {
    yield problemAt('/connector/credential', `is missing: ${lease.mode} is about a credential of the settings`);
  }
  if (lease.maxUses > 1) yield problemAt('/lease/maxUses', 'the proxy uses a lease once: more than 1 is for token');
  if (lease.header !== null)
    yield problemAt('/lease/header', 'is for token; the settings name the header of a credential');
  if (lease.renewableFor !== null) yield problemAt('/lease/renewableFor', 'only a token that others hold is renewed');
}

function* tokenProblems({ lease, connector }: ManifestDraft): Generator<PlacedProblem> {
  if (!lease || connector === undefined) return;
  if (lease.audience === null) yield problemAt('/lease/audience', 'is missing: a token is for one audience');
  if (connector.credential !== null) {
    yield problemAt('/connector/credential', 'the token takes the place of a credential: remove one of the two');
  }
  const carrier = lease.header ?? 'authorization';
  for (const name of Object.keys(connector.request.headers)) {
    if (name.toLowerCase() === carrier) {
      yield problemAt(`/connector/request/headers/${name}`, 'this header carries the token of the lease');
    }
  }
}

/** K-39: what the proxy itself would reach is inside the policy it records. */
function* executionProblems(
  { execution, connector, effect }: ManifestDraft,
  upstreams: Upstreams,
): Generator<PlacedProblem> {
  if (execution === undefined || execution === null) return;
  const { networkPolicy, dataAccessPolicy } = execution;
  const resolved = connector === undefined ? null : resolveBaseUrl(connector.baseUrl, upstreams);
  if (resolved?.ok === true) {
    const { host, hostname } = new URL(resolved.url);
    if (!networkPolicy.allowHosts.some((allowed) => allowed === host || allowed === hostname)) {
      yield problemAt('/execution/networkPolicy/allowHosts', 'does not list the host of connector.baseUrl');
    }
  }
  if (effect !== undefined && effect !== 'read_only' && dataAccessPolicy.access !== 'write') {
    yield problemAt('/execution/dataAccessPolicy/access', 'an effect other than read_only needs write');
  }
}
