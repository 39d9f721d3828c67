import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../domain/json/json-value.js';
import { ID_PREFIXES } from '../domain/ids/ids.js';
import { META_HEAD_ACCEPTED, META_HEAD_KEPT, META_HOLD, acceptedWord, readHold, type Hold } from '../storage/hold.js';
import { UnitDesk } from '../storage/units/unit-desk.js';
import type { UnitDraft } from '../storage/units/unit-draft.js';
import { PAUSE_REVISION, PauseBoard } from './pause-board.js';

const LEDGER = { kind: 'ledger', id: '-' } as const;

/**
 * Whether this store may be gone on with. A copy, and a store that is behind what was known of it, is held: that is recorded once,
 * survives restarts, and ends when an operator accepts it.
 */
@Injectable()
export class StoreHold {
  constructor(
    private readonly desk: UnitDesk,
    private readonly pauses: PauseBoard,
  ) {}

  /** At boot, before anything is admitted or sent. Records what was found and answers the hold that is in force. */
  async begin(): Promise<Hold | null> {
    const marked = readHold(await this.desk.read.meta(META_HOLD));
    const hold = marked !== null && marked.since !== null ? marked : await this.found(marked);
    if (hold === null) await this.keep();
    await this.pauses.reload();
    return hold;
  }

  get current(): Hold | null {
    return this.pauses.hold;
  }

  /** Adds to a unit that the store as it is now is gone on with. */
  async acceptIn(draft: UnitDraft, hold: Hold, reason: string): Promise<void> {
    const { size, root } = await this.desk.custody.head();
    const { knownSize, knownRoot } = hold;
    const payload = { reason, knownSize, knownRoot, size, root: root ?? '' };
    const version = await this.desk.read.streamVersion(LEDGER);
    draft.append(LEDGER, version, [{ type: 'ledger.restore_accepted', payload }], {});
    draft.write(fact(META_HOLD, ''));
    draft.write(fact(META_HEAD_ACCEPTED, acceptedWord(this.desk.custody.known)));
    draft.write(this.moved());
  }

  /** After the acceptance is durable: the note follows this store from now on. */
  async accepted(): Promise<void> {
    await this.keep();
    await this.pauses.reload();
  }

  private async found(marked: Hold | null): Promise<Hold | null> {
    const { comparison, known } = this.desk.custody;
    const reason = marked?.reason ?? comparison.finding;
    if (reason === null) return null;
    const head = await this.desk.custody.head();
    const draft = this.desk.beginInstallation('restore');
    const hold: Hold = {
      reason,
      since: draft.context.occurredAt,
      head,
      knownSize: known?.size ?? null,
      knownRoot: known?.root ?? null,
      backupAt: marked?.backupAt ?? null,
      complete: comparison.complete,
    };
    const { size, root } = head;
    const { knownSize, knownRoot, backupAt, complete } = hold;
    const payload = { reason, size, root: root ?? '', knownSize, knownRoot, backupAt, complete };
    const version = await this.desk.read.streamVersion(LEDGER);
    draft.append(LEDGER, version, [{ type: 'ledger.restore_detected', payload }], {}, 'recovery');
    draft.write(fact(META_HOLD, JSON.stringify(hold satisfies Hold as unknown as JsonObject)));
    await this.desk.commit(draft.write(this.moved()));
    return hold;
  }

  private async keep(): Promise<void> {
    await this.desk.custody.keep();
    const isKept = (await this.desk.read.meta(META_HEAD_KEPT)) !== null;
    const accepted = await this.desk.read.meta(META_HEAD_ACCEPTED);
    // An older note that was given up is no excuse any more once there is a new one.
    if (isKept && (accepted === null || accepted === '')) return;
    const draft = this.desk.beginInstallation('restore').write(fact(META_HEAD_KEPT, '1'));
    await this.desk.commit(draft.write(fact(META_HEAD_ACCEPTED, '')));
  }

  /** The row that every proposal and dispatch guards. */
  private moved(): ReturnType<typeof fact> {
    return fact(PAUSE_REVISION, this.desk.newId(ID_PREFIXES.unit));
  }
}

const fact = (name: string, value: string) => ({ op: 'put', table: 'meta', row: { name, value } }) as const;
