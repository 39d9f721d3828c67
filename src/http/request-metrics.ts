import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Metrics } from '../system/metrics/metrics.js';

/** Counts every answered request by its route as declared, and how long it took; waiting for a call to settle included. */
export function measureRequests(server: FastifyInstance, metrics: Metrics): void {
  const total = metrics.counter('countersign_http_requests_total', 'Answered requests.', ['method', 'route', 'status']);
  const seconds = metrics.histogram(
    'countersign_http_request_seconds',
    'From the request to the end of its answer; streams of events are left out.',
    ['route'],
  );
  server.addHook('onResponse', (request, reply, done) => {
    const route = routeOf(request);
    total.inc({ method: request.method, route, status: `${Math.floor(reply.statusCode / 100)}xx` });
    if (!isStream(request)) seconds.observe({ route }, reply.elapsedTime / 1000);
    done();
  });
}

/** What a path that nobody declared is counted under: a caller must not be able to make labels. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unknown';
}

const isStream = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/event-stream') === true;
