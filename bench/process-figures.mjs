/** What the operating system tells about one process. Linux only: it reads /proc. */
import { readFileSync, readdirSync } from 'node:fs';

/** USER_HZ, which Linux fixes at 100 for every program that reads /proc. */
const TICKS_PER_SECOND = 100;
const SAMPLE_INTERVAL_MS = 100;

/** User and system time of all threads so far, in milliseconds (steps of 10). @param {number} pid */
export function cpuMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in brackets may hold spaces; what follows it begins with field 3 (proc_pid_stat(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

/** @param {number} pid @param {'VmRSS' | 'VmHWM'} name resident set now, and its highest value ever */
export function memoryMiB(pid, name) {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? Number.NaN) / 1024;
}

/**
 * Watches the resident set until `stop`, which tells its highest value and all values in the order of time.
 * @param {number} pid
 */
export function watchMemory(pid) {
  const samplesMiB = [memoryMiB(pid, 'VmRSS')];
  const timer = setInterval(() => samplesMiB.push(memoryMiB(pid, 'VmRSS')), SAMPLE_INTERVAL_MS);
  return {
    stop: () => {
      clearInterval(timer);
      samplesMiB.push(memoryMiB(pid, 'VmRSS'));
      return { maxMiB: Math.max(...samplesMiB), samplesMiB };
    },
  };
}

/**
 * Means of the first and of the last third: equal when nothing grows.
 * @param {readonly number[]} samples
 * @returns {{ firstThird: number, lastThird: number }}
 */
export function thirdsOf(samples) {
  const third = Math.max(1, Math.floor(samples.length / 3));
  const mean = (/** @type {readonly number[]} */ part) => part.reduce((sum, value) => sum + value, 0) / part.length;
  return { firstThird: mean(samples.slice(0, third)), lastThird: mean(samples.slice(-third)) };
}

/**
 * A process and all that came from it and still lives. One that ends meanwhile is left out.
 * @param {number} pid
 * @returns {number[]}
 */
export function treeOf(pid) {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) => childrenOfThread(pid, thread));
    return [pid, ...children.flatMap(treeOf)];
  } catch {
    return [];
  }
}

/** @param {number} pid @param {number | string} thread @returns {number[]} */
function childrenOfThread(pid, thread) {
  const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}
