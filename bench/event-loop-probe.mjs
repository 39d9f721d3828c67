/**
 * Loaded into the proxy with `--import`: measures from inside the process what cannot be seen from outside. At each SIGUSR2 it writes the
 * figures since the last one into BENCH_EVENT_LOOP_FILE and begins anew.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 5;
const file = process.env.BENCH_EVENT_LOOP_FILE;

if (isMainThread && file !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let utilization = performance.eventLoopUtilization();
  let sequence = 0;
  process.on('SIGUSR2', () => {
    const now = performance.eventLoopUtilization();
    const figures = {
      sequence: (sequence += 1),
      // The histogram holds the time between two ticks of a timer; what exceeds its interval is the lag.
      lagP99Ms: Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS),
      lagMaxMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS),
      utilization: performance.eventLoopUtilization(now, utilization).utilization,
    };
    writeFileSync(`${file}.new`, JSON.stringify(figures));
    renameSync(`${file}.new`, file);
    utilization = now;
    delay.reset();
  });
}
