import type { Delivered, Delivery, Failure } from './sink.js';

/** A delivery that is put aside, so that others pass. */
export interface PutAside {
  readonly delivery: Delivery;
  /** Null for one that only waits behind another of its partition. */
  readonly failure: Failure | null;
}

export interface Verdict {
  readonly delivered: readonly Delivery[];
  readonly putAside: readonly PutAside[];
  /** Still to be delivered: the cursor waits for them. */
  readonly left: readonly Delivery[];
  /** Set when the sink as a whole takes nothing now. */
  readonly down: Failure | null;
}

/**
 * What the outcomes of a round say about the sink and about each event. Only that the sink took another event *afterwards*
 * shows that a refusal is about the event: then the event is put aside, and what follows in its partition waits behind it. When
 * nothing was taken, or the round was given up, the sink is down and nothing is held against any event.
 */
export function judge(outcomes: readonly Delivered[]): Verdict {
  const delivered = outcomes.filter(({ outcome }) => outcome.kind === 'delivered').map(({ delivery }) => delivery);
  const failures = outcomes.flatMap(({ delivery, outcome }, index) =>
    outcome.kind === 'delivered' || outcome.kind === 'not_tried' ? [] : [{ delivery, failure: outcome, index }],
  );
  const lastSuccess = outcomes.findLastIndex(({ outcome }) => outcome.kind === 'delivered');
  const failedPartitions = new Set(failures.map(({ delivery }) => delivery.partition));
  const untried = outcomes.filter(({ outcome }) => outcome.kind === 'not_tried').map(({ delivery }) => delivery);
  const isGivenUp = untried.some(({ partition }) => !failedPartitions.has(partition));
  const gone = failures.find(({ failure }) => failure.kind === 'gone');
  const isOnlySink = (index: number): boolean => lastSuccess === -1 || (isGivenUp && index > lastSuccess);

  const own = gone === undefined ? failures.filter(({ index }) => !isOnlySink(index)) : [];
  const ownPartitions = new Set(own.map(({ delivery }) => delivery.partition));
  const behind = untried.filter(({ partition }) => ownPartitions.has(partition));
  const left = [
    ...failures.filter((failed) => !own.includes(failed)).map(({ delivery }) => delivery),
    ...untried.filter(({ partition }) => !ownPartitions.has(partition)),
  ];
  const newest = failures.findLast((failed) => !own.includes(failed));
  return {
    delivered,
    putAside: [
      ...own.map(({ delivery, failure }) => ({ delivery, failure })),
      ...behind.map((delivery) => ({ delivery, failure: null })),
    ],
    left,
    down: gone?.failure ?? newest?.failure ?? null,
  };
}
