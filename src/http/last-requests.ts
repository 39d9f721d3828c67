import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { PROBLEM_TYPE, problemFor } from './problem.filter.js';

/** What the server's own events carry; its module is not this folder's to import. */
type Socket = FastifyRequest['raw']['socket'];

/** As long as a request may take that was sent before its client could know; a busy process reads it late. */
const ON_THE_WAY_MS = 500;

/**
 * Closing a server cuts every connection that is idle to it, with whatever the client has sent there and nobody has read
 * yet. So before that, for a moment, every request is still read and answered with 503 `shutting_down`, and every answer
 * tells the client to use its connection no more.
 */
export class LastRequests {
  private isStopping = false;
  /** Connections that never sent anything: to Node they are not idle, and they would hold up the close until its grace is over. */
  private readonly unused = new Set<Socket>();

  constructor(server: FastifyInstance) {
    server.server.on('connection', (socket) => {
      this.unused.add(socket);
      socket.once('close', () => this.unused.delete(socket));
    });
    server.server.on('request', ({ socket }) => this.unused.delete(socket));
    server.addHook('onRequest', (_request, reply, done) => {
      if (!this.isStopping) return done();
      const problem = problemFor(new CountersignError('shutting_down', 'this instance is stopping'));
      void reply.code(problem.status).header('retry-after', '1').type(PROBLEM_TYPE).send(JSON.stringify(problem));
    });
    server.addHook('onSend', (_request, reply, payload, done) => {
      if (this.isStopping) void reply.header('connection', 'close');
      done(null, payload);
    });
  }

  /** Answers when the clients have had their moment, or after so many milliseconds. */
  async refuse(withinMs: number): Promise<void> {
    this.isStopping = true;
    await pause(Math.min(ON_THE_WAY_MS, withinMs));
    for (const socket of this.unused) socket.destroy();
  }
}
