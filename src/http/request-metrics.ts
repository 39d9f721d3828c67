import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Count, Distribution } from '../system/metrics/instruments.js';
import type { Metrics } from '../system/metrics/metrics.js';

interface Cells {
  readonly total: Count;
  readonly seconds: Distribution;
}

/** Counts every answered request by its route as declared, and how long it took; waiting for a call to settle included. */
export function measureRequests(server: FastifyInstance, metrics: Metrics): void {
  const totals = metrics.count('countersign_http_requests_total', 'Answered requests.', ['method', 'route', 'status']);
  const seconds = metrics.distribution(
    'countersign_http_request_seconds',
    'From the request to the end of its answer; streams of events are left out.',
    ['route'],
  );
  // In steps, because a text put together for each request would have to be hashed for each request.
  const known = new Map<string, Map<string, Cells[]>>();
  server.addHook('onResponse', (request, reply, done) => {
    const route = routeOf(request);
    const byMethod = entryOf(known, route, () => new Map<string, Cells[]>());
    const byClass = entryOf(byMethod, request.method, () => []);
    const statusClass = Math.floor(reply.statusCode / 100);
    const cells = (byClass[statusClass] ??= {
      total: totals.with(request.method, route, `${statusClass}xx`),
      seconds: seconds.with(route),
    });
    cells.total.add();
    if (!isStream(request)) cells.seconds.observe(reply.elapsedTime / 1000);
    done();
  });
}

function entryOf<V>(map: Map<string, V>, key: string, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = create()));
  return value;
}

/** What a path that nobody declared is counted under: a caller must not be able to make labels. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unknown';
}

const isStream = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/event-stream') === true;
