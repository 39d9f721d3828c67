export interface Chore {
  readonly name: string;
  /** Answers how many could not be looked after. */
  tick(): Promise<number>;
}

/** What the sweep does about approvals: times that come without anybody reading, and what memory must know of them. */
export class ApprovalChores {
  constructor(private readonly chores: readonly Chore[]) {}

  list(): readonly Chore[] {
    return this.chores;
  }
}
