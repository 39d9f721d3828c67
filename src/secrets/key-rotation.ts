import type { Actor } from '../domain/events/envelope.js';
import type { Custody } from '../storage/custody.js';
import { COUNTERSIGN, INSTALLATION, type UnitDesk } from '../storage/units/unit-desk.js';
import { Logger, errorName } from '../system/logger.js';
import type { Readiness, ReadinessReason } from '../system/readiness.js';
import { pause } from '../system/timers.js';

/** Keys that are looked at in one step: a millisecond or two of the writer. */
const STEP_KEYS = 200;
/** What the writer has for others between two steps. */
const REST_MS = 5;

const STREAM = { kind: 'ledger', id: 'keys' } as const;

export interface Rotated {
  readonly kekId: string;
  readonly keysRewrapped: number;
  /** Key-encryption keys that were needed before and are not any more. */
  readonly previousKekIds: readonly string[];
}

type RotationDesk = Pick<UnitDesk, 'read' | 'commit' | 'begin' | 'now'> & {
  readonly custody: Pick<Custody, 'keyRing' | 'rewrap' | 'releaseOtherKeys'>;
};

/**
 * Brings everything under the current key-encryption key, in small steps between everybody else's units. It is on record before the
 * other keys are let go, and a process that dies in between begins again: what is rewrapped already is only looked at.
 */
export class KeyRotation {
  private isDone = false;
  private running: Promise<Rotated> | null = null;
  private failure: string | null = null;
  private isStopping = false;

  constructor(
    private readonly desk: RotationDesk,
    private readonly logger: Logger,
  ) {}

  /** Begins by itself where the settings name keys before the current one. */
  start(): void {
    if (this.desk.custody.keyRing.ids.length < 2) return;
    this.run(COUNTERSIGN).catch((error: unknown) => {
      if (this.isStopping) return;
      this.logger.error('keys could not be rewrapped', { error: errorName(error) });
    });
  }

  /** Ends after the step under way; the next start goes on. Called by Nest when the process stops. */
  async onModuleDestroy(): Promise<void> {
    this.isStopping = true;
    await this.running?.catch(() => undefined);
  }

  /** Rewraps everything. Rejects with a plain `Error` when a step fails; what was done stays done. */
  run(actor: Actor): Promise<Rotated> {
    this.running ??= this.rewrapAll(actor).finally(() => {
      this.running = null;
    });
    return this.running;
  }

  /** Says to operators what of `storage.previousKeys` is still needed. */
  watchedBy(readiness: Readiness): void {
    readiness.watch(() => this.reasons());
  }

  private async rewrapAll(actor: Actor): Promise<Rotated> {
    try {
      const rotated = await this.steps(actor);
      this.isDone = true;
      this.failure = null;
      return rotated;
    } catch (error) {
      this.failure = errorName(error);
      throw error;
    }
  }

  private async steps(actor: Actor): Promise<Rotated> {
    const { custody } = this.desk;
    let keysRewrapped = 0;
    let after: string | null = '';
    let previousKekIds: readonly string[] = [];
    while (after !== null) {
      if (after !== '') await pause(REST_MS);
      if (this.isStopping) throw new Error('the process is stopping');
      const { moved, next, outstanding } = await custody.rewrap(after, STEP_KEYS);
      keysRewrapped += moved;
      after = next;
      previousKekIds = outstanding;
    }
    const rotated = { kekId: custody.keyRing.currentId, keysRewrapped, previousKekIds };
    if (previousKekIds.length > 0) {
      await this.record(actor, rotated);
      await custody.releaseOtherKeys();
    }
    return rotated;
  }

  private async record(actor: Actor, rotated: Rotated): Promise<void> {
    const { desk } = this;
    const draft = desk.begin({
      tenant: INSTALLATION,
      lane: 'govern',
      actor,
      correlationId: 'keys',
      occurredAt: desk.now(),
      causationId: null,
      causeKind: 'external',
    });
    const payload = { ...rotated, previousKekIds: [...rotated.previousKekIds] };
    const version = await desk.read.streamVersion(STREAM);
    draft.append(STREAM, version, [{ type: 'ledger.key_rotated', payload }], {});
    await desk.commit(draft);
  }

  private reasons(): readonly ReadinessReason[] {
    if (this.desk.custody.keyRing.ids.length < 2) return [];
    const name = 'key_rotation';
    if (this.failure !== null) {
      return [
        { name, weight: 'degraded', detail: 'keys could not be rewrapped; storage.previousKeys are still needed' },
      ];
    }
    const detail = this.isDone
      ? 'everything is wrapped by the current key; storage.previousKeys can be taken out'
      : 'keys are being rewrapped; storage.previousKeys are still needed';
    return [{ name, weight: 'information', detail }];
  }
}
