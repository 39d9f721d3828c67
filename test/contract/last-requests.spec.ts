import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { fastify, type FastifyInstance } from 'fastify';
import { LastRequests } from '../../src/http/last-requests.js';

const servers: FastifyInstance[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function listening(): Promise<{ url: string; last: LastRequests }> {
  const server = fastify();
  servers.push(server);
  const last = new LastRequests(server);
  server.get('/', () => ({ fine: true }));
  await server.listen({ port: 0, host: '127.0.0.1' });
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  return { url: `http://127.0.0.1:${address.port}/`, last };
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
    const refusing = last.refuse(10_000);
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
    await last.refuse(20);
    await expect(closed).resolves.toBeDefined();
  });

  it('get no longer than the grace that is left', async () => {
    const { last } = await listening();
    await expect(last.refuse(0)).resolves.toBeUndefined();
  });
});
