import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { AllowRoles, CallerIfAsked, OpenIf } from '../identity/bearer.guard.js';
import type { Caller } from '../identity/caller.js';
import { Metrics } from '../system/metrics/metrics.js';
import { GET_METRICS } from './health.operations.js';
import { Implements } from './openapi/operation.js';

const LOOPBACK: readonly string[] = ['127.0.0.1', '::1', '::ffff:127.0.0.1'];

/** Whether the settings let a caller without a token read the metrics. */
export function metricsAreOpen({ metrics }: Settings, address: string | undefined): boolean {
  switch (metrics.access) {
    case 'public':
      return true;
    case 'loopback':
      return LOOPBACK.includes(address ?? '');
    case 'operator':
      return false;
  }
}

/** The numbers of the whole installation, in the text format of Prometheus, for whom `metrics.access` lets read them. */
@Controller()
export class MetricsController {
  constructor(
    private readonly metrics: Metrics,
    private readonly settings: Settings,
  ) {}

  /** An operator of one tenant must not see what the others do: only the tenant that runs the installation may. */
  @Get('metrics')
  @AllowRoles('operator')
  @OpenIf(metricsAreOpen)
  @Implements(GET_METRICS)
  async read(@CallerIfAsked() caller: Caller | null, @Res({ passthrough: true }) reply: FastifyReply): Promise<string> {
    if (caller !== null && caller.tenant !== this.settings.installation.operatorTenant) {
      throw new CountersignError('not_authorized', 'only an operator of the installation may read its metrics');
    }
    void reply.type(this.metrics.contentType).header('cache-control', 'no-store');
    return this.metrics.text();
  }
}
