import type { Delivered, Delivery, Outcome } from './sink.js';

/** After so many failures in a row, none of which says anything about an event, the rest of a round is not tried. */
const FAILURES_IN_A_ROW_MAX = 5;

export interface ChainOptions {
  readonly concurrency: number;
  readonly stopping: AbortSignal;
  /** Never rejects. */
  readonly send: (delivery: Delivery) => Promise<Outcome>;
}

/**
 * Sends deliveries with a bounded number at a time: those of one partition one after the other, ending with the first that
 * fails. Gives the round up when one failure follows another: while nothing was taken yet whatever they are, afterwards only
 * for those that are not about an event. Answers in the order in which the outcomes were known, what was not tried last.
 */
export async function sendInChains(batch: readonly Delivery[], options: ChainOptions): Promise<readonly Delivered[]> {
  const chains = [...chainsOf(batch)];
  const outcomes: Delivered[] = [];
  let [hasSuccess, inARow, isGivenUp] = [false, 0, false];

  const note = (delivery: Delivery, outcome: Outcome): void => {
    outcomes.push({ delivery, outcome });
    if (outcome.kind === 'delivered') [hasSuccess, inARow] = [true, 0];
    else if (outcome.kind === 'gone') isGivenUp = true;
    else if (outcome.kind === 'unavailable' || !hasSuccess) inARow += 1;
    isGivenUp ||= inARow >= FAILURES_IN_A_ROW_MAX;
  };
  const work = async (): Promise<void> => {
    for (let chain = chains.shift(); chain !== undefined; chain = chains.shift()) {
      for (const delivery of chain) {
        if (isGivenUp || options.stopping.aborted) return;
        const outcome = await options.send(delivery);
        if (outcome.kind === 'not_tried') break;
        note(delivery, outcome);
        if (outcome.kind !== 'delivered') break;
      }
    }
  };
  await Promise.all(Array.from({ length: options.concurrency }, work));
  const known = new Set(outcomes.map(({ delivery }) => delivery));
  const untried = batch.filter((delivery) => !known.has(delivery));
  return [...outcomes, ...untried.map((delivery) => ({ delivery, outcome: { kind: 'not_tried' } as const }))];
}

function chainsOf(batch: readonly Delivery[]): Iterable<readonly Delivery[]> {
  const chains = new Map<string, Delivery[]>();
  for (const delivery of batch) {
    const chain = chains.get(delivery.partition);
    if (chain === undefined) chains.set(delivery.partition, [delivery]);
    else chain.push(delivery);
  }
  return chains.values();
}
