import { Injectable } from '@nestjs/common';
import type { Actor } from '../domain/events/envelope.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { COUNTERSIGN, INSTALLATION, UnitDesk } from '../storage/units/unit-desk.js';
import type { UnitDraft } from '../storage/units/unit-draft.js';
import type { FilesRead } from './engine/load-policies.js';
import type { LoadReport } from './engine/policy-set.js';
import { StoredSets } from './life/stored-sets.js';
import { POLICY_SCOPE } from './policy-guard.js';
import { refusal } from './policy-problems.js';
import { PolicyService, loadEvent, type CheckedSet, type StandbySet } from './policy.service.js';

/** Who proposed a set and who allowed it, where activation is an approved action. */
export interface Activators {
  readonly activationId: string;
  readonly author: Actor;
  readonly approver: Actor;
}

export type PrepareSet = (files?: FilesRead | null) => Promise<StandbySet>;

const STREAM = { kind: 'policy', id: POLICY_SCOPE } as const;

/**
 * Puts a policy set in force and makes that a fact: the event, the set itself and the row every decision guards are one unit,
 * and the engine changes over when that unit is durable. A set with a problem, or a unit that is not written, leaves the set
 * in force where it is, and a problem is a fact too.
 */
@Injectable()
export class PolicyActivation {
  private turns: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly desk: UnitDesk,
    private readonly policy: PolicyService,
    private readonly sets: StoredSets,
  ) {}

  /**
   * The folder, or the files given, whoever asked. @throws CountersignError `policy_set_refused` with every problem.
   */
  activate(files: FilesRead | null = null): Promise<LoadReport> {
    return this.change(async (prepare) => {
      const standby = await prepare(files);
      if (!standby.report.accepted) {
        await this.recordRefusal(standby.report, COUNTERSIGN);
        throw refusal(standby.report);
      }
      const draft = this.desk.beginInstallation('policies');
      await this.recordIn(draft, standby);
      if (!draft.isEmpty) await this.desk.commit(draft);
      return standby.report;
    });
  }

  /** Checks a set and does nothing with it. */
  look(files: FilesRead | null): Promise<CheckedSet> {
    return this.policy.check(files);
  }

  /**
   * One change of set at a time. `commit` prepares, records by `recordIn` and commits its unit, all of it again where a guard
   * fails; what it prepared last enters when it is done, and nothing does when it throws.
   */
  change<T>(commit: (prepare: PrepareSet) => Promise<T>): Promise<T> {
    const turn = this.turns.then(() => this.carryOut(commit));
    this.turns = turn.catch(() => undefined);
    return turn;
  }

  /** Adds to the unit what follows from putting an accepted set in force; the row moves only when the revision does. */
  async recordIn(draft: UnitDraft, { report, candidate }: StandbySet, by: Activators | null = null): Promise<void> {
    const row = await this.desk.read.activePolicy(POLICY_SCOPE);
    const event = loadEvent(report, row?.revision ?? null);
    if (candidate !== null) await this.sets.keepIn(draft, { report, candidate });
    if (event?.type !== 'policy.activated') return;
    const people = by === null ? {} : peopleOf(by);
    const version = await versionIn(draft, this.desk);
    const activated = { type: event.type, payload: { ...event.payload, ...people } };
    const [eventId] = draft.append(STREAM, version, [activated], {});
    draft.write({
      op: 'put',
      table: 'policy_active',
      row: {
        scope: POLICY_SCOPE,
        revision: event.payload.policyRevision,
        schema_digest: event.payload.schemaDigest,
        stream_version: version + 1,
        activated_event_id: eventId as string,
        activated_at: draft.context.occurredAt,
      },
    });
  }

  /** That a set was refused is a fact of its own, whatever becomes of the command that asked for it. */
  async recordRefusal(report: LoadReport, actor: Actor): Promise<void> {
    const event = loadEvent(report, null);
    if (event?.type !== 'policy.activation_refused') return;
    const draft = this.desk.begin({
      tenant: INSTALLATION,
      lane: 'govern',
      actor,
      correlationId: 'policies',
      occurredAt: this.desk.now(),
      causationId: null,
      causeKind: 'external',
    });
    draft.append(STREAM, await this.desk.read.streamVersion(STREAM), [event], {});
    await this.desk.commit(draft);
  }

  private async carryOut<T>(commit: (prepare: PrepareSet) => Promise<T>): Promise<T> {
    const prepared: StandbySet[] = [];
    const prepare: PrepareSet = async (files = null) => {
      const standby = await this.policy.prepare(files);
      prepared.push(standby);
      return standby;
    };
    try {
      const answer = await commit(prepare);
      prepared.at(-1)?.enter();
      return answer;
    } finally {
      await Promise.all(prepared.map((standby) => standby.leave()));
    }
  }
}

/** The version of the stream with what the unit adds to it already. */
async function versionIn(draft: UnitDraft, desk: UnitDesk): Promise<number> {
  return (await desk.read.streamVersion(STREAM)) + draft.appendedTo(STREAM);
}

function peopleOf({ activationId, author, approver }: Activators) {
  return {
    activationId,
    author: author as unknown as JsonObject,
    approver: approver as unknown as JsonObject,
  };
}
