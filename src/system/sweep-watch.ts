import type { Periodic } from './periodic.js';
import type { Readiness } from './readiness.js';

/** Makes it a reason for operators to look that a sweep could not look after everything: the rest was, and these wait. */
export function watchSweep({ troubles }: Pick<Periodic, 'troubles'>, readiness: Readiness): void {
  readiness.watch(() => {
    if (troubles.size === 0) return [];
    const parts = [...troubles].map(
      ([name, failed]) => `${name} (${failed === null ? 'failed' : `${failed} records`})`,
    );
    const detail = `the last sweep could not look after everything: ${parts.join(', ')}; the log has the ids`;
    return [{ name: 'sweep', weight: 'degraded', detail }];
  });
}
