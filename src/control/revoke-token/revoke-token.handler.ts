import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import { Revocations } from '../../identity/revocations.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { CommandLog } from '../command-log.js';
import { requireInstallationOperator } from '../own-call.js';
import { RevokeToken, type Revoked, type RevokedTokens } from './revoke-token.command.js';

const STREAM = { kind: 'ledger', id: 'tokens' } as const;
const DAY_MS = 86_400_000;

/** Tokens name their times in whole seconds: whoever revokes "until now" means those of this second too. */
const SECOND_MS = 1000;

@CommandHandler(RevokeToken)
export class RevokeTokenHandler implements ICommandHandler<RevokeToken> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
    private readonly revocations: Revocations,
    private readonly settings: Settings,
  ) {}

  /** Effective on this server when it answers. @throws CountersignError `not_authorized`, `invalid_request` */
  async execute({ caller, tokens, reason }: RevokeToken): Promise<Revoked> {
    const revocationId = this.desk.newId(ID_PREFIXES.revocation);
    const nowMs = this.desk.clock.now();
    const { tokenLifetimeMsMax, clockToleranceMs } = this.settings.identity;
    const issuedBefore = issuedBeforeOf(tokens, nowMs);
    // No token lives longer, whoever issued it; a day more for clocks that differ.
    const until = new Date(nowMs + tokenLifetimeMsMax + clockToleranceMs + DAY_MS).toISOString();
    const named = 'jti' in tokens ? { jti: tokens.jti } : { tenant: tokens.tenant, sub: tokens.sub, issuedBefore };
    const asked = { type: 'revoke_token', target: { kind: 'token', ...named }, details: { reason }, commandId: null };
    await this.log.carryOut(caller, asked, async (start, now) => {
      requireInstallationOperator(caller, this.settings);
      mustHavePassed(tokens, nowMs + clockToleranceMs);
      const draft = start({ correlationId: revocationId });
      const [jti, tenant, sub] = 'jti' in tokens ? [tokens.jti, null, null] : [null, tokens.tenant, tokens.sub];
      const about = { jti, subjectTenant: tenant, sub, issuedBefore };
      const payload = { revocationId, ...about, until, reason };
      const version = await this.desk.read.streamVersion(STREAM);
      draft.append(STREAM, version, [{ type: 'token.revoked', payload }], {});
      const row = {
        revocation_id: revocationId,
        jti,
        tenant,
        sub,
        issued_before: issuedBefore,
        until,
        reason,
        revoked_at: now,
      };
      draft.write({ op: 'insert', table: 'revoked_tokens', row, takenGuard: 'revocation' });
      return draft.write({ op: 'delete', table: 'revoked_tokens', where: { until: { clock: 'not_after_now' } } });
    });
    await this.revocations.reload();
    return { revocationId, until };
  }
}

/** Tokens that nobody has yet cannot be lost: a time to come would shut somebody out for as long as somebody types. */
function mustHavePassed(tokens: RevokedTokens, nowMs: number): void {
  if ('jti' in tokens || tokens.issuedBefore === null || Date.parse(tokens.issuedBefore) <= nowMs) return;
  throw new CountersignError('invalid_request', 'issuedBefore has not come yet', { pointer: '/issuedBefore' });
}

function issuedBeforeOf(tokens: RevokedTokens, nowMs: number): string | null {
  if ('jti' in tokens) return null;
  const second = (Math.floor(nowMs / SECOND_MS) + 1) * SECOND_MS;
  return tokens.issuedBefore ?? new Date(second).toISOString();
}
