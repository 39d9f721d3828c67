/**
 * Loaded into a server before it starts (`node --import`), in each of its threads: ends the process with SIGKILL at the
 * crash point that the file in CRASH_PLAN_FILE names at that moment. An empty file names none.
 */
import { readFileSync } from 'node:fs';
import { env, kill, pid } from 'node:process';

/**
 * Where to die. `count`: at which match (a batch with several fitting units matches several times). Units can be narrowed
 * to those of a tenant and to those with an event of a type, requests to a method.
 *
 * @typedef {{ point: string, count?: number, tenant?: string, event?: string, method?: string }} CrashPlan
 * @typedef {{ tenant: string, appends: readonly { events: readonly { type: string }[] }[] }} UnitAtHand
 */

const { observeCrashPoints } = /** @type {typeof import('../../../src/system/crash-points.js')} */ (
  await import(new URL('../../../dist/system/crash-points.js', import.meta.url).href)
);

const file = env['CRASH_PLAN_FILE'];
let text = '';
let left = 0;

observeCrashPoints((point, about) => {
  const now = file === undefined ? '' : readFileSync(file, 'utf8');
  if (now === '') return;
  const plan = /** @type {CrashPlan} */ (JSON.parse(now));
  if (now !== text) left = plan.count ?? 1;
  text = now;
  if (plan.point !== point) return;
  left -= matches(plan, about);
  if (left <= 0) kill(pid, 'SIGKILL');
});

/** @param {CrashPlan} plan @param {unknown} about */
function matches({ tenant, event, method }, about) {
  if (method !== undefined) return /** @type {{ method: string }} */ (about).method === method ? 1 : 0;
  if (tenant === undefined && event === undefined) return 1;
  const units = /** @type {UnitAtHand[]} */ (Array.isArray(about) ? about : [about]);
  return units.filter(
    (unit) =>
      (tenant === undefined || unit.tenant === tenant) &&
      (event === undefined || unit.appends.some(({ events }) => events.some(({ type }) => type === event))),
  ).length;
}
