import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Whether another process can be traced here; the attempt and not the program's presence decides. */
export const canTrace: boolean = (() => {
  const sleeper = spawn('sleep', ['5'], { stdio: 'ignore' });
  try {
    const tried = spawnSync('timeout', ['-s', 'INT', '1', 'strace', '-p', String(sleeper.pid)], { encoding: 'utf8' });
    return tried.error === undefined && /attached/.test(tried.stderr);
  } finally {
    sleeper.kill('SIGKILL');
  }
})();

/** For a suite that needs a tracer: says aloud why it is skipped where there is none. */
export function announceMissingTracer(suite: string): void {
  if (!canTrace) process.stderr.write(`SKIPPED: ${suite}: strace is missing or may not attach to processes here\n`);
}

/**
 * strace on a running process and all of its threads. Lines come as they are printed; what the reader does not take in
 * time makes the traced process wait, so nothing is lost.
 */
export class SyscallTrace {
  private constructor(private readonly tracer: ChildProcess) {}

  static async attach(pid: number, args: readonly string[], onLine: (line: string) => void): Promise<SyscallTrace> {
    const tracer = spawn('strace', ['-f', ...args, '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] });
    await new Promise<void>((resolve, reject) => {
      tracer.once('exit', (code) => reject(new Error(`strace ended with ${code}`)));
      createInterface({ input: tracer.stderr as NodeJS.ReadableStream }).on('line', (line) => {
        // With threads it is "attached with N threads"; from then on every thread is traced.
        if (line.startsWith('strace: Process') && line.includes('attached')) resolve();
        else onLine(line);
      });
    });
    return new SyscallTrace(tracer);
  }

  /** Lets the process run on untraced; answers when everything printed has been read. */
  async detach(): Promise<void> {
    const closed = once(this.tracer, 'close');
    this.tracer.kill('SIGINT');
    await closed;
  }
}
