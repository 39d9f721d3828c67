import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { performance } from 'node:perf_hooks';
import type { OutboundResult } from '../../src/egress/outbound-request.js';
import { HttpClientHarness, pause } from './http-client-harness.js';
import { response, type SeenRequest } from './raw-http-server.js';

/** Repeat a failure with the seed that its message shows. */
const SEED = Number(process.env['FAULT_SEED'] ?? Date.now() % 1_000_000);
const REQUESTS = 3_000;
const WORKERS = 16;

let harness: HttpClientHarness;
beforeEach(() => {
  harness = new HttpClientHarness();
});
afterEach(() => harness.stop());

function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
}

function idOf({ head }: SeenRequest): string {
  return /^x-id: (\d+)$/m.exec(head)?.[1] ?? '';
}

/** What an unreliable tool may do once it has read a request, and so has acted. */
const faults: readonly ((request: SeenRequest, honest: Buffer, random: () => number) => void)[] = [
  ({ socket }, honest) => socket.write(honest),
  ({ socket }, honest) => socket.write(honest),
  ({ socket }, honest) => socket.end(honest),
  ({ socket }, honest, random) => socket.write(honest, () => setTimeout(() => socket.resetAndDestroy(), random() * 4)),
  ({ socket }, honest, random) => setTimeout(() => socket.write(honest), random() * 60),
  ({ socket }, honest) => socket.write(Buffer.concat([honest, response(200, 'poison')])),
  ({ socket }, honest) => socket.end(honest.subarray(0, -1)),
  ({ socket }) => socket.resetAndDestroy(),
  ({ socket }) => socket.end(),
  ({ socket }) => socket.write('garbage\r\n\r\n'),
  () => undefined,
];

function contradictionOf(id: string, result: OutboundResult, seenCount: number): string | null {
  if (seenCount > 1) return `${id} arrived ${seenCount} times`;
  if (!result.evidence.bytesWritten && seenCount > 0) return `${id} arrived and was called not written`;
  if (result.kind === 'no_response') return null;
  return Buffer.from(result.body).toString() === id && seenCount === 1 ? null : `${id} got the answer of another`;
}

describe('HttpClient against an unreliable tool', () => {
  it('never sends twice, never denies what arrived, and never mixes answers up', async () => {
    const random = numbersFrom(SEED);
    const server = await harness.server({
      onConnection: (socket) => {
        if (random() < 0.03) socket.resetAndDestroy();
      },
      onRequest: (request) => {
        faults[Math.floor(random() * faults.length)]?.(request, response(200, idOf(request)), random);
      },
    });
    const client = harness.client({ connectionsPerOriginMax: 8 });
    const results = new Map<string, OutboundResult>();
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < REQUESTS) {
        next += 1;
        const id = String(next);
        const now = performance.now();
        const result = await harness.send(client, server.url(), {
          method: ['GET', 'POST', 'PUT', 'DELETE'][next % 4] ?? 'GET',
          headers: { 'x-id': id },
          sendBeforeMonotonicMs: now + 20 + random() * 80,
          deadlineMonotonicMs: now + 50 + random() * 100,
        });
        results.set(id, result);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    await pause(100);

    const seen = new Map<string, number>();
    for (const request of server.requests) seen.set(idOf(request), (seen.get(idOf(request)) ?? 0) + 1);
    const contradictions = [...results].flatMap(([id, result]) => contradictionOf(id, result, seen.get(id) ?? 0) ?? []);
    expect({ seed: SEED, contradictions }).toEqual({ seed: SEED, contradictions: [] });
    const outcomes = new Set(
      [...results.values()].map((result) => (result.kind === 'response' ? 'response' : result.cause)),
    );
    expect([...outcomes]).toEqual(
      expect.arrayContaining(['response', 'reset', 'body_incomplete', 'bad_framing', 'timeout']),
    );
    expect(results.size).toBe(REQUESTS);
  });
});
