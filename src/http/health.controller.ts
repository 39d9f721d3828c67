import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Liveness, ReadinessRepresentation } from '../client/contract/health.js';
import { Public } from '../identity/bearer.guard.js';
import { Readiness } from '../system/readiness.js';
import { GET_LIVENESS, GET_READINESS } from './health.operations.js';
import { Implements } from './openapi/operation.js';

/** For whatever keeps the process alive and sends it traffic. Says nothing about anybody's data. */
@Controller()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('healthz')
  @Public()
  @Implements(GET_LIVENESS)
  alive(): Liveness {
    return { status: 'ok' };
  }

  @Get('readyz')
  @Public()
  @Implements(GET_READINESS)
  ready(@Res({ passthrough: true }) reply: FastifyReply): ReadinessRepresentation {
    const reasons = [...this.readiness.reasons()];
    void reply.code(reasons.length === 0 ? 200 : 503);
    return { ready: reasons.length === 0, reasons };
  }
}
