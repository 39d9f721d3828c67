/**
 * Reads a CPU profile that `bench.mjs --profile` wrote: which functions spend the time themselves, in microseconds per call.
 *
 *   node bench/self-time.mjs FILE CALLS [ROWS]
 */
import { readFileSync } from 'node:fs';

/**
 * @typedef {{ functionName: string, url: string, lineNumber: number }} Frame
 * @typedef {{ nodes: { id: number, callFrame: Frame }[], samples: number[], timeDeltas: number[] }} Profile
 */

const [file, calls, rows = '25'] = process.argv.slice(2);
if (file === undefined || !(Number(calls) > 0)) {
  process.stderr.write('node bench/self-time.mjs FILE CALLS [ROWS]\n');
  process.exit(2);
}
/** @type {Profile} */
const profile = JSON.parse(readFileSync(file, 'utf8'));
const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
/** @type {Map<string, number>} */
const microseconds = new Map();
profile.samples.forEach((id, index) => {
  const frame = frames.get(id);
  if (frame === undefined) return;
  const place = frame.url === '' ? '' : ` ${frame.url.split('/').slice(-3).join('/')}:${frame.lineNumber + 1}`;
  const name = `${frame.functionName || '(anonymous)'}${place}`;
  microseconds.set(name, (microseconds.get(name) ?? 0) + Math.max(0, profile.timeDeltas[index] ?? 0));
});
const busy = [...microseconds].filter(([name]) => name !== '(idle)');
const total = busy.reduce((sum, [, time]) => sum + time, 0);
console.log(`${(total / Number(calls)).toFixed(1).padStart(9)} µs per call, idle time left out`);
for (const [name, time] of busy.toSorted(([, left], [, right]) => right - left).slice(0, Number(rows))) {
  console.log(
    `${(time / Number(calls)).toFixed(1).padStart(9)}  ${((time / total) * 100).toFixed(1).padStart(5)} %  ${name}`,
  );
}
