import type { SessionRow } from '../../domain/session/session-row.js';

/** Follows the groups of a log while it is read in order. */
export class GroupProgress {
  private group: { readonly id: string; readonly size: number; readonly firstSeq: number; next: number } | null = null;

  /** The first `seq` of the group whose end has not been read yet, or null. */
  get openFrom(): number | null {
    return this.group?.firstSeq ?? null;
  }

  /** False: a group is incomplete before the row, or the row does not belong where it stands. */
  take(row: SessionRow): boolean {
    const { groupId, groupIndex, groupSize } = row.kind === 'event' ? row : NO_GROUP;
    if (this.group === null) {
      if (groupId === undefined || groupSize === undefined) return true;
      if (groupIndex !== 0) return false;
      if (groupSize > 1) this.group = { id: groupId, size: groupSize, firstSeq: row.seq, next: 1 };
      return true;
    }
    const belongs = groupId === this.group.id && groupIndex === this.group.next && groupSize === this.group.size;
    if (!belongs) return false;
    this.group.next += 1;
    if (this.group.next === this.group.size) this.group = null;
    return true;
  }
}

const NO_GROUP: { readonly groupId?: string; readonly groupIndex?: number; readonly groupSize?: number } = {};
