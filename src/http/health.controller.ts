import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Liveness, ReadinessRepresentation } from '../client/contract/health.js';
import { Settings } from '../config/settings.js';
import { PresentedToken, Public } from '../identity/bearer.guard.js';
import { hasRole } from '../identity/caller.js';
import { TokenVerifier } from '../identity/token-verifier.js';
import { Readiness, type ReadinessReason } from '../system/readiness.js';
import { GET_LIVENESS, GET_READINESS } from './health.operations.js';
import { Implements } from './openapi/operation.js';

/**
 * For whatever keeps the process alive and sends it traffic. `/healthz` only shows that the process answers. `/readyz`
 * names what stands against it: 503 when it can do nothing for anybody, 200 with `degraded` when an operator should look.
 * Neither reads the store, and what they say to strangers names nobody and nothing of theirs.
 */
@Controller()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly verifier: TokenVerifier,
    private readonly settings: Settings,
  ) {}

  @Get('healthz')
  @Public()
  @Implements(GET_LIVENESS)
  alive(): Liveness {
    return { status: 'ok' };
  }

  @Get('readyz')
  @Public()
  @Implements(GET_READINESS)
  async ready(
    @PresentedToken() token: string | null,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReadinessRepresentation> {
    const reasons = this.readiness.reasons();
    const reader = await this.readerOf(token);
    const shown = (weights: readonly string[]) =>
      reasons.filter(({ weight }) => weights.includes(weight)).map((reason) => represent(reason, reader));
    const ready = reasons.every(({ weight }) => weight !== 'not_ready');
    void reply.code(ready ? 200 : 503).header('cache-control', 'no-store');
    return {
      ready,
      degraded: reasons.some(({ weight }) => weight === 'degraded'),
      reasons: shown(['not_ready', 'degraded']),
      information: shown(['information']),
    };
  }

  /** A probe with a token that is no longer good is a probe without one. */
  private async readerOf(token: string | null): Promise<Reader> {
    if (token === null) return 'stranger';
    try {
      const caller = await this.verifier.verify(token);
      const { operatorTenant } = this.settings.installation;
      const runsIt = caller.tenant === operatorTenant && hasRole(caller, 'operator', 'auditor');
      return runsIt ? 'runs_installation' : 'known';
    } catch {
      return 'stranger';
    }
  }
}

type Reader = 'stranger' | 'known' | 'runs_installation';

function represent(
  { name, weight, detail, about, ofInstallation }: ReadinessReason,
  reader: Reader,
): ReadinessRepresentation['reasons'][number] {
  const isShown = reader === 'runs_installation' || (reader === 'known' && ofInstallation !== true);
  return { name, severity: weight, detail, ...(isShown && about !== undefined ? { about: [...about] } : {}) };
}
