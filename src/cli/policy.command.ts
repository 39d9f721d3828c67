import { resolve } from 'node:path';
import { loadCapabilities } from '../capabilities/capability-registry.js';
import type { PolicyPreviewReport, PolicyReplayReport } from '../client/contract/policies.js';
import { settingsFile } from '../config/environment.js';
import { loadSettings } from '../config/load-settings.js';
import type { Settings } from '../config/settings.js';
import { CASES_SUFFIX, caseFilesIn, runCases } from '../policy/cases/run-cases.js';
import { InProcessPolicyEvaluator } from '../policy/engine/in-process-policy-evaluator.js';
import { loadPolicies, readPolicyFiles } from '../policy/engine/load-policies.js';
import { problemLines, refusal } from '../policy/policy-problems.js';
import { CONFIG_OPTION, EXIT, usage, type Given, type Subcommand, type Terminal } from './command.js';
import { SERVER_OPTIONS, operatorCall } from './operator-call.js';

type Work = (words: readonly string[], given: Given, settings: Settings, terminal: Terminal) => Promise<number>;

const WORKS: ReadonlyMap<string, Work> = new Map([
  ['test', test],
  ['preview', preview],
  ['replay', replay],
]);

/** As many case files as a command line holds. */
const WORDS_MAX = 1_000;

export const POLICY: Subcommand = {
  summary: 'test a policy folder, preview it against a running server, replay a decision',
  details: `policy test [FILES...]   checks the folder and runs its golden cases (*${CASES_SUFFIX}), or those of FILES; opens nothing.
policy preview           asks the running server what the folder would change; writes nothing.
policy replay ID         decides again what was decided about a tool call, or by a policy decision.`,
  operand: { value: 'test|preview|replay [WORDS]', least: 1, most: WORDS_MAX },
  options: {
    config: CONFIG_OPTION,
    dir: { type: 'string', value: 'DIR', about: 'the policy folder; without it policy.dir of the settings' },
    limit: { type: 'string', value: 'N', about: 'with preview: the most decisions to look at (1000)' },
    ...SERVER_OPTIONS,
  },
  run: async (given, terminal) => {
    const { environment } = terminal;
    const settings = loadSettings({ file: given.text('config') ?? settingsFile(environment), environment });
    const work = WORKS.get(given.operand());
    if (work === undefined) throw usage('policy takes test, preview or replay');
    return work(given.words.slice(1), given, settings, terminal);
  },
};

async function test(words: readonly string[], given: Given, settings: Settings, terminal: Terminal): Promise<number> {
  const dir = folderOf(given, settings);
  const capabilities = await loadCapabilities(settings.capabilities.dir, settings);
  const engine = await InProcessPolicyEvaluator.create();
  const { approverGroups, decideWithinMs, executionWindowMs, timeZone } = settings.policy;
  const report = await loadPolicies(engine, {
    dir,
    approverGroups,
    defaults: { decideWithinMs, executionWindowMs },
    capabilities: capabilities.list().map(({ manifest }) => manifest),
  });
  if (!report.accepted) throw refusal(report);
  for (const line of problemLines(report.warnings)) terminal.err(`warning: ${line}\n`);
  const files = words.length > 0 ? words.map((word) => resolve(word)) : await caseFilesIn(dir);
  if (files.length === 0) throw usage(`there are no cases: no *${CASES_SUFFIX} in ${dir}`);
  const results = await runCases(files, capabilities, (request) => engine.decide(request), timeZone);
  const failed = results.filter(({ problems }) => problems.length > 0);
  for (const { file, name, problems } of failed) {
    terminal.out(`FAIL ${file}${name === null ? '' : ` ${JSON.stringify(name)}`}\n`);
    for (const problem of problems) terminal.out(`  ${problem}\n`);
  }
  terminal.out(`${results.length - failed.length} passed, ${failed.length} failed\n`);
  return failed.length === 0 ? EXIT.done : EXIT.failed;
}

async function preview(words: readonly string[], given: Given, settings: Settings, terminal: Terminal) {
  if (words.length > 0) throw usage('policy preview takes no further words');
  const { files, problems } = await readPolicyFiles(folderOf(given, settings));
  if (problems.length > 0) throw refusal({ problems });
  const limit = given.text('limit');
  if (limit !== null && !/^[1-9]\d{0,4}$/.test(limit)) throw usage('--limit takes a number from 1 to 10000');
  const body = { files, ...(limit === null ? {} : { limit: Number(limit) }) };
  const report = (await operatorCall(given, settings, '/v1/policies/preview', body)) as PolicyPreviewReport;
  if (!report.accepted) throw refusal(report);
  for (const line of problemLines(report.warnings)) terminal.err(`warning: ${line}\n`);
  const { decisions, approvals } = report;
  for (const { from, to, capability, toolCallId } of decisions.flips) {
    terminal.out(
      `${from.outcome} -> ${to.outcome}  ${capability}  ${toolCallId}  [${from.determining.join(' ')}] -> [${to.determining.join(' ')}]\n`,
    );
  }
  for (const { becomes, capability, approvalId } of approvals.stale) {
    terminal.out(`approval ${becomes}  ${capability}  ${approvalId}\n`);
  }
  const skipped = [...Object.values(decisions.skipped), ...Object.values(approvals.skipped)].reduce((a, b) => a + b, 0);
  terminal.out(
    `${report.revision}: ${decisions.flipped} of ${decisions.looked} decisions flip, ` +
      `${approvals.stale.length} of ${approvals.looked} approvals end, ${skipped} not comparable (${decisions.end})\n`,
  );
  return EXIT.done;
}

async function replay(words: readonly string[], given: Given, settings: Settings, terminal: Terminal): Promise<number> {
  const [id] = words;
  if (id === undefined || words.length > 1) throw usage('policy replay takes one id');
  const body = id.startsWith('dec_') ? { policyDecisionId: id } : { toolCallId: id };
  const { items } = (await operatorCall(given, settings, '/v1/policies/replay', body)) as PolicyReplayReport;
  for (const { policyDecisionId, answer, reason, decided, differences } of items) {
    const why = reason === null ? '' : `: ${reason}`;
    terminal.out(`${policyDecisionId}  ${decided?.phase ?? '-'}  ${decided?.outcome ?? '-'}  ${answer}${why}\n`);
    for (const { field, recorded, replayed } of differences) {
      terminal.out(`  ${field}: recorded ${JSON.stringify(recorded)}, replayed ${JSON.stringify(replayed)}\n`);
    }
  }
  return items.some(({ answer }) => answer === 'different') ? EXIT.failed : EXIT.done;
}

const folderOf = (given: Given, settings: Settings): string => {
  const dir = given.text('dir');
  return dir === null ? settings.policy.dir : resolve(dir);
};
