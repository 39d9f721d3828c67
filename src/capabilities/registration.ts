import { Injectable } from '@nestjs/common';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { UnitDesk } from '../storage/units/unit-desk.js';
import type { TableRow } from '../storage/rows/tables.js';
import { CapabilityRegistry } from './capability-registry.js';
import type { Capability } from './manifest.js';

/**
 * Pins the manifests in force: each `name@version` is recorded with the digest of its definition, once. The same
 * version with another definition stops the start, because approvals and decisions name the version. A manifest that is put
 * back to a version that was in force before is a rollback, and is recorded as one: what waits under the other version ends.
 */
@Injectable()
export class CapabilityRegistration {
  constructor(
    private readonly desk: UnitDesk,
    private readonly registry: CapabilityRegistry,
  ) {}

  /** @throws CountersignError `capability_definition_changed` naming every manifest that has drifted. */
  async register(): Promise<void> {
    const drifted: string[] = [];
    for (const capability of this.registry.list()) {
      const { name, version } = capability.manifest;
      const pinned = await this.desk.read.capabilityVersion(name, version);
      if (pinned !== null && pinned.manifest_digest !== capability.manifestDigest) drifted.push(capability.id);
    }
    if (drifted.length > 0) {
      const problems = drifted.map(
        (id) => `${id}: the definition differs from the one recorded; give it a new version`,
      );
      throw new CountersignError('capability_definition_changed', problems.join('\n'), { problems });
    }
    for (const capability of this.registry.list()) await this.pin(capability);
  }

  private async pin(capability: Capability): Promise<void> {
    const { name, version } = capability.manifest;
    const current = await this.desk.read.capability(name);
    if (current !== null && current.version === version) return;
    const draft = this.desk.beginInstallation(name);
    const now = draft.context.occurredAt;
    const stream = { kind: 'capability', id: name } as const;
    const streamVersion = await this.desk.read.streamVersion(stream);
    const payload = {
      capabilityVersion: version,
      manifestDigest: capability.manifestDigest,
      supersedesVersion: current?.version ?? null,
    };
    const refs = { capabilityId: capability.id };
    const wasInForce = (await this.desk.read.capabilityVersion(name, version)) !== null;
    const type = wasInForce ? 'capability.rolled_back' : 'capability.registered';
    const [eventId] = draft.append(stream, streamVersion, [{ type, payload }], refs);
    if (current !== null) {
      draft.write({
        op: 'set',
        table: 'capabilities',
        where: { name, version: current.version },
        set: { state: 'superseded', updated_at: now },
        guard: 'capability',
      });
    }
    const row: TableRow<'capabilities'> = {
      name,
      version,
      manifest_digest: capability.manifestDigest,
      state: 'active',
      stream_version: streamVersion + 1,
      last_event_id: eventId as string,
      updated_at: now,
    };
    draft.write({ op: 'put', table: 'capabilities', row });
    await this.desk.commit(draft);
  }
}
