import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { hasRole, type Caller } from '../identity/caller.js';
import { Revocations } from '../identity/revocations.js';
import { StoredSecrets, type SecretVersion } from '../secrets/stored-secrets.js';
import type { TableRow } from '../storage/rows/tables.js';

/** What secrets and revocations there are, for those who run the installation. */
@Injectable()
export class SecretDirectory {
  constructor(
    private readonly stored: StoredSecrets,
    private readonly revoked: Revocations,
    private readonly settings: Settings,
  ) {}

  /** @throws CountersignError `not_authorized` */
  secrets(caller: Caller): Promise<readonly SecretVersion[]> {
    this.requireInstallation(caller);
    return this.stored.list();
  }

  /** @throws CountersignError `not_authorized` */
  revocations(caller: Caller): Promise<readonly TableRow<'revoked_tokens'>[]> {
    this.requireInstallation(caller);
    return this.revoked.list();
  }

  private requireInstallation(caller: Caller): void {
    const runsIt = caller.tenant === this.settings.installation.operatorTenant;
    if (runsIt && hasRole(caller, 'operator', 'auditor')) return;
    throw new CountersignError('not_authorized', 'only those who run the installation may see this');
  }
}
