import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Public } from '../identity/bearer.guard.js';
import { Readiness } from '../system/readiness.js';

/** For whatever keeps the process alive and sends it traffic. Says nothing about anybody's data. */
@Controller()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('healthz')
  @Public()
  alive(): { readonly status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('readyz')
  @Public()
  ready(@Res({ passthrough: true }) reply: FastifyReply): {
    readonly ready: boolean;
    readonly reasons: readonly string[];
  } {
    const reasons = this.readiness.reasons();
    void reply.code(reasons.length === 0 ? 200 : 503);
    return { ready: reasons.length === 0, reasons };
  }
}
