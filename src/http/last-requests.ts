import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { Grace } from '../system/grace.js';
import { after, pause } from '../system/timers.js';
import { PROBLEM_TYPE, problemFor } from './problem.filter.js';

/** What the server's own events carry; its module is not this folder's to import. */
type Socket = FastifyRequest['raw']['socket'];

/** As long as a request may take that was sent before its client could know; a busy process reads it late. */
const QUIET_MS = 500;

/** Who is still asked so long after the stop is asked by clients that cannot have known. */
const MOMENT_MS_MAX = 5000;

/** How long a refused request may take to arrive in full: an answer that overtakes it can be lost in the reset that follows. */
const BODY_WITHIN_MS = 2000;

const LOOK_MS = 20;

/**
 * Closing a server cuts every connection that is idle to it, with whatever the client has sent there and nobody has read
 * yet. So before that every request is still read and answered with 503 `shutting_down`, and every answer tells the client
 * to use its connection no more, until nobody has asked for a moment.
 */
export class LastRequests {
  private isStopping = false;
  private lastAt = Number.NEGATIVE_INFINITY;
  /** Admitted before the stop and not answered yet. */
  private underWay = 0;
  private readonly open = new Set<Socket>();
  /** Connections that never sent anything: to Node they are not idle, and they would hold up the close until its grace is over. */
  private readonly unused = new Set<Socket>();

  constructor(server: FastifyInstance) {
    server.server.on('connection', (socket) => {
      this.open.add(socket);
      this.unused.add(socket);
      socket.once('close', () => {
        this.open.delete(socket);
        this.unused.delete(socket);
      });
    });
    server.server.on('request', ({ socket }) => {
      this.unused.delete(socket);
      this.lastAt = performance.now();
    });
    server.addHook('onRequest', (request, reply, done) => {
      if (!this.isStopping) {
        this.underWay += 1;
        reply.raw.once('close', () => (this.underWay -= 1));
        return done();
      }
      void refuse(request, reply);
    });
    server.addHook('onSend', (_request, reply, payload, done) => {
      if (this.isStopping) void reply.header('connection', 'close');
      done(null, payload);
    });
  }

  /** Admits nothing more. Answers when what was admitted is answered and nobody has asked for a moment, or when the grace is over. */
  async refuse(grace: Grace): Promise<void> {
    this.isStopping = true;
    const begun = performance.now();
    const isLate = (): boolean => performance.now() - begun >= MOMENT_MS_MAX;
    while (!grace.isOver() && (this.underWay > 0 || (!this.isQuiet(begun) && !isLate()))) await pause(LOOK_MS);
  }

  /** Lets go of connections without a request, right before the server is closed. */
  async letGo(): Promise<void> {
    // A turn of the event loop reads what has arrived; after it there is nothing between that and the close.
    await turn();
    await turn();
    for (const socket of this.unused) socket.destroy();
  }

  private isQuiet(begun: number): boolean {
    // Without connections only those count that were not made yet: a server that nobody has asked for long stops at once.
    const since = this.open.size === 0 ? this.lastAt : Math.max(begun, this.lastAt);
    return performance.now() - since >= QUIET_MS;
  }
}

async function refuse(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  await read(request.raw);
  const problem = problemFor(new CountersignError('shutting_down', 'this instance is stopping'));
  void reply.code(problem.status).header('retry-after', '1').type(PROBLEM_TYPE).send(JSON.stringify(problem));
}

/** Reads a request to its end, keeping nothing of it. */
async function read(request: FastifyRequest['raw']): Promise<void> {
  if (request.complete) return;
  const ended = new Promise<void>((resolve) => request.once('end', resolve).once('close', resolve));
  request.resume();
  await Promise.race([ended, new Promise<void>((resolve) => void after(BODY_WITHIN_MS, resolve).unref())]);
}
