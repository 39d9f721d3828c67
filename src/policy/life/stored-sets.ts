import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import type { LoadReport, PolicyCandidate, PolicyFile } from '../engine/policy-set.js';

/** A set as it was stored: what it is made from, so that any engine can make it again and see whether it is the same. */
export interface StoredSet {
  readonly revision: string;
  readonly engineVersion: string;
  readonly schemaDigest: string;
  readonly policyIds: readonly string[];
  readonly candidate: PolicyCandidate;
  readonly firstSeen: string;
}

/** A set that stands ready: its report, what it is made from, and the engine that checked it. */
export interface NewSet {
  readonly report: LoadReport;
  readonly candidate: PolicyCandidate;
}

/** Keeps every set that was proposed or in force, once, so that each decision can be replayed with the set that made it. */
@Injectable()
export class StoredSets {
  constructor(readonly desk: UnitDesk) {}

  /** Adds the set to the unit unless it is kept already. Two units that keep the same new set: one fails and looks again. */
  async keepIn(draft: UnitDraft, { report, candidate }: NewSet): Promise<void> {
    const { revision, schemaDigest, policyIds, engineVersion } = report;
    if (revision === null || schemaDigest === null || engineVersion === undefined) return;
    if ((await this.desk.read.policySet(revision)) !== null) return;
    draft.write({
      op: 'insert',
      table: 'policy_sets',
      takenGuard: 'policy_set',
      row: {
        revision,
        schema_digest: schemaDigest,
        engine_version: engineVersion,
        policy_ids: JSON.stringify(policyIds),
        content: JSON.stringify(candidate),
        first_seen: draft.context.occurredAt,
      },
    });
  }

  async find(revision: string): Promise<StoredSet | null> {
    const row = await this.desk.read.policySet(revision);
    if (row === null) return null;
    return {
      revision,
      engineVersion: row.engine_version,
      schemaDigest: row.schema_digest,
      policyIds: JSON.parse(row.policy_ids) as readonly string[],
      candidate: JSON.parse(row.content) as PolicyCandidate,
      firstSeen: row.first_seen,
    };
  }
}

/** Whether two sets are written in the same words; order and comments included, since both are what an operator reads. */
export function sameFiles(one: readonly PolicyFile[], other: readonly PolicyFile[]): boolean {
  const inOrder = (files: readonly PolicyFile[]): PolicyFile[] =>
    files.map(({ name, text }) => ({ name, text })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return isDeepStrictEqual(inOrder(one), inOrder(other));
}
