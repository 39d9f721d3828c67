import { Dispatcher } from '../../src/proxy/executor/dispatcher.js';
import type { Settings } from '../../src/config/settings.js';
import type { TableRow } from '../../src/storage/rows/tables.js';
import { Installation, refundCapability, TENANT } from './installation.js';
import { settingsWith } from './settings-examples.js';

export const EXECUTION = {
  environmentId: 'prod-payments',
  sandboxTrustLevel: 'high',
  networkPolicy: { allowHosts: ['payments.example.com'] },
  dataAccessPolicy: { access: 'write', resources: ['ledger'] },
};

export const INJECT = {
  lease: { scopes: ['refund:create'] },
  execution: EXECUTION,
  connector: { credential: 'payments' },
};

export const TOKEN = {
  lease: {
    mode: 'token',
    scopes: ['refund:create'],
    audience: 'https://payments.example',
    maxUses: 1,
    renewableFor: '10m',
  },
  execution: EXECUTION,
  lateResult: 'poll',
  pending: { status: [202], referenceAt: '/id' },
};

/** An installation whose refunds are made under leases. */
export class LendingInstallation extends Installation {
  readonly dispatcher: Dispatcher;

  constructor(changes: object = INJECT, settings: Partial<Settings['leases']> = {}) {
    super({ capabilities: [refundCapability({ ...changes })], settings: settingsWith({ leases: settings }) });
    this.dispatcher = new Dispatcher(this.desk, this.gate, this.judge, this.rejudgement, this.leases.authority);
  }

  get all(): readonly TableRow<'leases'>[] {
    return this.store.rows('leases');
  }

  leaseOf(toolCallId: string): TableRow<'leases'> {
    const row = this.all.findLast((lease) => lease.tool_call_id === toolCallId);
    if (row === undefined) throw new Error('the call has no lease');
    return row;
  }

  typesOf(leaseId: string): readonly string[] {
    return this.store.stream({ kind: 'lease', id: leaseId }).map(({ envelope }) => envelope.eventType);
  }

  /** A token of the newest lease of the call. */
  async tokenOf(toolCallId: string): Promise<string> {
    const { lease } = await this.call(toolCallId);
    if (lease === undefined) throw new Error('the call has no lease');
    return this.leases.tokens.tokenOf(lease);
  }

  present(token: string, burn = true, more: object = {}) {
    return this.leases.uses.present({ token, tenant: TENANT, usedBy: 'tool', ...more }, burn);
  }
}
