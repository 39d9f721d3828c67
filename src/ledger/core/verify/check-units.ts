import type { Entry, EntryCheck, VisibleEntry } from './entry.js';
import { placeOf } from './check-streams.js';
import type { Findings } from './findings.js';

interface OpenUnit {
  readonly unitId: string;
  readonly size: number;
  /** Positions [start, end) are the unit's. */
  readonly start: number;
  readonly end: number;
  readonly first: VisibleEntry;
}

/**
 * What was committed together is there together: the entries of a unit stand at consecutive positions in their order, each position of it
 * is in the bundle, shown or hidden, and no other entry is among them.
 */
export function unitCheck(findings: Findings): EntryCheck {
  const seen = new Set<string>();
  let unit: OpenUnit | null = null;
  /** Positions from here to the last one are all in the bundle. */
  let runStart = 0;
  let last = -1;
  let lastVisible = -1;

  const cut = (): void => {
    if (unit !== null && unit.end > last + 1) {
      findings.add('unit_incomplete', 'Entries that were committed with this one are missing.', placeOf(unit.first));
    }
    unit = null;
  };

  const begin = (entry: VisibleEntry): void => {
    const { unitId, unitIndex, unitSize } = entry.envelope;
    const start = entry.position - unitIndex;
    if (start < runStart) {
      findings.add('unit_incomplete', 'Entries that were committed with this one are missing.', placeOf(entry));
    } else if (lastVisible >= start || seen.has(unitId)) {
      findings.add('unit_mixed', 'The entry is among entries of another unit.', placeOf(entry));
    }
    seen.add(unitId);
    unit = { unitId, size: unitSize, start, end: start + unitSize, first: entry };
  };

  const seeVisible = (entry: VisibleEntry): void => {
    const { unitId, unitIndex, unitSize } = entry.envelope;
    if (unit === null || entry.position >= unit.end) return begin(entry);
    const belongs = unit.unitId === unitId && unit.size === unitSize && unit.start === entry.position - unitIndex;
    if (!belongs) findings.add('unit_mixed', 'The entry is among entries of another unit.', placeOf(entry));
  };

  return {
    see(entry: Entry) {
      if (entry.position !== last + 1) {
        cut();
        runStart = entry.position;
      }
      if (entry.kind !== 'hidden') {
        seeVisible(entry);
        lastVisible = entry.position;
      }
      last = entry.position;
    },
    end: cut,
  };
}
