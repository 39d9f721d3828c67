import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { fastify, type FastifyInstance } from 'fastify';
import { LastRequests } from '../../src/http/last-requests.js';
import { Grace } from '../../src/system/grace.js';

const servers: FastifyInstance[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const grace = (ms: number): Grace => new Grace(ms, new AbortController().signal);

async function listening(): Promise<{ url: string; last: LastRequests; worked: { isDone: boolean } }> {
  const server = fastify();
  servers.push(server);
  const last = new LastRequests(server);
  const worked = { isDone: false };
  server.get('/', () => ({ fine: true }));
  server.get('/slow', async () => {
    await pause(900);
    worked.isDone = true;
    return { fine: true };
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  return { url: `http://127.0.0.1:${address.port}/`, last, worked };
}

describe('the last requests of a stopping server', () => {
  it('are answered like any other while it is not stopping', async () => {
    const { url } = await listening();
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('connection')).not.toBe('close');
  });

  it('are refused with shutting_down, told when to come again, and lose their connection', async () => {
    const { url, last } = await listening();
    await (await fetch(url)).text();
    const refusing = last.refuse(grace(10_000));
    const answer = await fetch(url);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.headers.get('connection')).toBe('close');
    expect(await answer.json()).toMatchObject({ code: 'shutting_down' });
    await refusing;
  });

  it('do not wait for connections that never sent one', async () => {
    const { url, last } = await listening();
    const silent = connect(Number(new URL(url).port), '127.0.0.1');
    await once(silent, 'connect');
    const closed = once(silent, 'close');
    await last.refuse(grace(20));
    await last.letGo();
    await expect(closed).resolves.toBeDefined();
  });

  it('get no longer than the grace that is left', async () => {
    const { last } = await listening();
    await expect(last.refuse(grace(0))).resolves.toBeUndefined();
  });

  it('are over when those admitted before are answered', async () => {
    const { url, last, worked } = await listening();
    const slow = fetch(`${url}slow`);
    await pause(200);
    expect(worked.isDone).toBe(false);
    const wasDone = last.refuse(grace(10_000)).then(() => worked.isDone);
    const answer = await slow;
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    expect(await wasDone).toBe(true);
  });

  it('go on being answered as long as somebody asks, and not for ever', async () => {
    const { url, last } = await listening();
    await (await fetch(url)).text();
    const progress = { isOver: false };
    const refusing = last.refuse(grace(10_000)).then(() => (progress.isOver = true));
    const statuses: number[] = [];
    while (!progress.isOver) {
      statuses.push((await fetch(url)).status);
      await pause(100);
    }
    await refusing;
    expect(statuses.length).toBeGreaterThan(15);
    expect(new Set(statuses)).toEqual(new Set([503]));
  });

  it('get their answer also when they are long, and never a reset instead', async () => {
    const { url, last } = await listening();
    await (await fetch(url)).text();
    const refusing = last.refuse(grace(10_000));
    const body = Buffer.alloc(8 * 1024 * 1024, 0x20);
    const answers = await Promise.all(Array.from({ length: 4 }, () => fetch(url, { method: 'POST', body })));
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
    await refusing;
  });
});
