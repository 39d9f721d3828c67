import { afterEach, beforeEach, describe } from '@jest/globals';
import type { OpenStoreUnderTest, OpenedStore, StoreLimits } from './opened-store.js';
import { describeConcurrency } from './contract/concurrency.js';
import { describeEvents } from './contract/events.js';
import { describeLanes } from './contract/lanes.js';
import { describeLists } from './contract/lists.js';
import { describeOutcomesAndRuns } from './contract/outcomes-and-runs.js';
import { describeReads } from './contract/reads.js';
import { describeRecent } from './contract/recent.js';
import { describeRestart } from './contract/restart.js';
import { describeRows } from './contract/rows.js';
import { describeSessions } from './contract/sessions.js';
import { describeUnits } from './contract/units.js';

/** The store that the current test has opened, and how to open one with other limits. */
export interface StoreUnderTest {
  readonly current: () => OpenedStore;
  /** Replaces the current store by the same one, opened again. */
  readonly reopen: () => Promise<OpenedStore>;
  /** Replaces the current store by a new one. */
  readonly openWith: (limits: StoreLimits) => Promise<OpenedStore>;
}

/** What every backend promises. A second backend is one more line in the spec that calls this. */
export function describeStoreContract(name: string, open: OpenStoreUnderTest): void {
  describe(`store on ${name}`, () => {
    let opened: OpenedStore;
    const replace = (next: OpenedStore): OpenedStore => (opened = next);
    const underTest: StoreUnderTest = {
      current: () => opened,
      reopen: async () => replace(await opened.reopen()),
      openWith: async (limits) => {
        await opened.discard();
        return replace(await open(limits));
      },
    };
    beforeEach(async () => void replace(await open()));
    afterEach(() => opened.discard());

    describeUnits(underTest);
    describeEvents(underTest);
    describeRows(underTest);
    describeConcurrency(underTest);
    describeLanes(underTest);
    describeReads(underTest);
    describeRecent(underTest);
    describeLists(underTest);
    describeOutcomesAndRuns(underTest);
    describeSessions(underTest);
    describeRestart(underTest);
  });
}
