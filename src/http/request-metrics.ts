import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Count, Distribution } from '../system/metrics/instruments.js';
import type { Metrics } from '../system/metrics/metrics.js';

interface Cells {
  readonly total: Count;
  readonly seconds: Distribution;
}

const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** Counts every answered request by its route as declared, and how long it took; waiting for a call to settle included. */
export function measureRequests(server: FastifyInstance, metrics: Metrics): void {
  const totals = metrics.count('countersign_http_requests_total', 'Answered requests.', ['method', 'route', 'status']);
  const seconds = metrics.distribution(
    'countersign_http_request_seconds',
    'From the request to the end of its answer; streams of events are left out.',
    ['route'],
  );
  const known = new Map<string, Cells>();
  server.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const route = routeOf(request);
    const status = CLASSES[Math.floor(reply.statusCode / 100) - 1] ?? '5xx';
    const key = `${method} ${status} ${route}`;
    let cells = known.get(key);
    if (cells === undefined) {
      cells = { total: totals.with(method, route, status), seconds: seconds.with(route) };
      known.set(key, cells);
    }
    cells.total.add();
    if (!isStream(request)) cells.seconds.observe(reply.elapsedTime / 1000);
    done();
  });
}

/** What a path that nobody declared is counted under: a caller must not be able to make labels. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unknown';
}

const isStream = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/event-stream') === true;
