/**
 * Every spec, in runs of Jest one after the other: specs of faults, which watch servers die by the clock, leave those half of the
 * processors; all others share them. The line at the end counts all runs.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const JEST = fileURLToPath(new URL('../node_modules/jest/bin/jest.js', import.meta.url));
const NODE_ARGS = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
const RUNS = [
  ['--selectProjects', 'unit', 'architecture', 'contract', '--maxWorkers=100%'],
  ['--selectProjects', 'e2e', '--maxWorkers=100%'],
  ['--selectProjects', 'fault'],
];

const dir = mkdtempSync(join(tmpdir(), 'countersign-tests-'));
const env = { ...process.env, TEST_TOTALS_FILE: join(dir, 'totals.json') };
try {
  const codes = RUNS.map(
    (args) => spawnSync(process.execPath, [...NODE_ARGS, JEST, ...args], { stdio: 'inherit', env }).status,
  );
  process.exitCode = codes.every((code) => code === 0) ? 0 : 1;
} finally {
  rmSync(dir, { recursive: true, force: true });
}
