import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { Public, bearerToken } from '../identity/bearer.guard.js';
import { hasRole } from '../identity/caller.js';
import { TokenVerifier } from '../identity/token-verifier.js';
import { Metrics } from '../system/metrics/metrics.js';
import { GET_METRICS } from './health.operations.js';
import { Implements } from './openapi/operation.js';

const LOOPBACK: readonly string[] = ['127.0.0.1', '::1', '::ffff:127.0.0.1'];

/** The numbers of the whole installation, in the text format of Prometheus, for whom `metrics.access` lets read them. */
@Controller()
export class MetricsController {
  constructor(
    private readonly metrics: Metrics,
    private readonly verifier: TokenVerifier,
    private readonly settings: Settings,
  ) {}

  @Get('metrics')
  @Public()
  @Implements(GET_METRICS)
  async read(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    if (!this.isOpenTo(request)) await this.mustBeOperator(request.headers.authorization);
    void reply.type(this.metrics.contentType).header('cache-control', 'no-store');
    return this.metrics.text();
  }

  private isOpenTo({ socket }: FastifyRequest): boolean {
    switch (this.settings.metrics.access) {
      case 'public':
        return true;
      case 'loopback':
        return LOOPBACK.includes(socket.remoteAddress ?? '');
      case 'operator':
        return false;
    }
  }

  /** An operator of one tenant must not see what the others do: only the tenant that runs the installation may. */
  private async mustBeOperator(authorization: string | undefined): Promise<void> {
    const token = bearerToken(authorization);
    if (token === null) throw new CountersignError('unauthenticated', 'a bearer token is required');
    const caller = await this.verifier.verify(token);
    if (caller.tenant !== this.settings.installation.operatorTenant || !hasRole(caller, 'operator')) {
      throw new CountersignError('not_authorized', 'only an operator of the installation may read its metrics');
    }
  }
}
