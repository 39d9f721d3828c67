import { Injectable } from '@nestjs/common';
import type { TableRow } from '../../storage/rows/tables.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';

type CallRow = TableRow<'tool_calls'>;

/** Whom a piece of evidence names. */
export interface Named {
  readonly capability: string;
  /** Evidence that a tenant hands in is about its own calls; null: signed by the tool, which knows no tenants. */
  readonly tenant: string | null;
  /** The call that the address of a callback names; the body has to agree. */
  readonly toolCallId: string | null;
  readonly key: string | null;
  readonly reference: string | null;
}

/**
 * Finds the call that evidence is about. A signature covers the body and not the address, so a body that names another
 * call than the address is evidence about neither. Two calls for one reference are one too many.
 */
@Injectable()
export class LateEvidenceMatcher {
  constructor(private readonly desk: UnitDesk) {}

  async find(named: Named): Promise<CallRow | null> {
    const byKey = named.key === null ? null : await this.byKey(named.key);
    if (named.key !== null && byKey === null && named.reference === null) return null;
    const byReference = named.reference === null ? [] : await this.byReference(named, named.reference);
    if (byReference.length > 1) return null;
    const addressed = named.toolCallId === null ? null : await this.desk.read.callAnywhere(named.toolCallId);
    const candidates = [byKey, byReference[0] ?? null, addressed].filter((row) => row !== null);
    const [row, ...others] = candidates;
    if (row === undefined || others.some((other) => other.tool_call_id !== row.tool_call_id)) return null;
    return this.agrees(row, named) ? row : null;
  }

  private async byKey(key: string): Promise<CallRow | null> {
    const toolCallId = await this.desk.read.callOfKey(key);
    return toolCallId === null ? null : this.desk.read.callAnywhere(toolCallId);
  }

  private async byReference({ capability, tenant }: Named, reference: string): Promise<readonly CallRow[]> {
    const rows = await this.desk.read.callsByReference(capability, reference);
    return tenant === null ? rows : rows.filter((row) => row.tenant === tenant);
  }

  private agrees(row: CallRow, { capability, tenant, key, reference }: Named): boolean {
    if (row.capability !== capability || (tenant !== null && row.tenant !== tenant)) return false;
    if (key !== null && key !== row.downstream_key) return false;
    return reference === null || row.external_request_id === null || row.external_request_id === reference;
  }
}
