import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadCapabilities, type CapabilityRegistry } from '../../../src/capabilities/capability-registry.js';
import { loadSettings } from '../../../src/config/load-settings.js';
import type { Settings } from '../../../src/config/settings.js';
import { runCases } from '../../../src/policy/cases/run-cases.js';
import { InProcessPolicyEvaluator } from '../../../src/policy/engine/in-process-policy-evaluator.js';
import { loadPolicies } from '../../../src/policy/engine/load-policies.js';

const ROOT = new URL('../../../', import.meta.url);
const EXAMPLES = fileURLToPath(new URL('examples/policies/', ROOT));
const NAMES = readdirSync(EXAMPLES)
  .filter((name) => name.endsWith('.cedar'))
  .map((name) => name.slice(0, -'.cedar'.length));
const DOCUMENT = readFileSync(new URL('docs/policies.md', ROOT), 'utf8');

let dir: string;
let settings: Settings;
let capabilities: CapabilityRegistry;
let engine: InProcessPolicyEvaluator;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-examples-'));
  settings = loadSettings({ file: join(EXAMPLES, 'countersign.yaml'), environment: {} });
  capabilities = await loadCapabilities(settings.capabilities.dir, settings);
  engine = await InProcessPolicyEvaluator.create();
});
afterAll(async () => {
  await engine.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function load(folder: string) {
  const { approverGroups, decideWithinMs, executionWindowMs } = settings.policy;
  return loadPolicies(engine, {
    dir: folder,
    approverGroups,
    defaults: { decideWithinMs, executionWindowMs },
    capabilities: capabilities.list().map(({ manifest }) => manifest),
  });
}

const run = (file: string) =>
  runCases([file], capabilities, (request) => engine.decide(request), settings.policy.timeZone);

describe('the worked examples of docs/policies.md', () => {
  it('are at least ten', () => expect(NAMES.length).toBeGreaterThanOrEqual(10));

  it.each(NAMES)(
    '%s is loaded without a word, answers its cases, and stands in the document as it is',
    async (name) => {
      const folder = mkdtempSync(join(dir, 'set-'));
      copyFileSync(join(EXAMPLES, `${name}.cedar`), join(folder, 'example.cedar'));
      expect(await load(folder)).toMatchObject({ accepted: true, problems: [], warnings: [] });
      const results = await run(join(EXAMPLES, `${name}.cases.yaml`));
      expect(results.length).toBeGreaterThan(1);
      expect(results.filter(({ problems }) => problems.length > 0)).toEqual([]);
      const text = readFileSync(join(EXAMPLES, `${name}.cedar`), 'utf8');
      expect(DOCUMENT).toContain(`<!-- examples/policies/${name}.cedar -->\n\n\`\`\`cedar\n${text}\`\`\`\n`);
    },
  );

  it('have cases that another set fails', async () => {
    const folder = mkdtempSync(join(dir, 'set-'));
    copyFileSync(join(EXAMPLES, '08-suspended-agent.cedar'), join(folder, 'example.cedar'));
    await load(folder);
    const results = await run(join(EXAMPLES, '01-amount-tiers.cases.yaml'));
    expect(results.filter(({ problems }) => problems.length > 0).length).toBeGreaterThan(0);
  });
});
