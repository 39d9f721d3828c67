import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A child that prints JSON, one value a line. */
export class JsonChild {
  private readonly lines: AsyncIterator<string>;

  private constructor(readonly process: ChildProcess) {
    if (process.stdout === null) throw new Error('a child has a standard output');
    this.lines = createInterface({ input: process.stdout })[Symbol.asyncIterator]();
  }

  /** `script` is relative to `from`, the URL of the module that starts it. */
  static start(from: string, script: string, ...parameters: readonly string[]): JsonChild {
    const path = fileURLToPath(new URL(script, from));
    return new JsonChild(spawn(process.execPath, [path, ...parameters], { stdio: ['pipe', 'pipe', 'inherit'] }));
  }

  /** The next line, parsed; null when the child has closed its output. */
  async next<T>(): Promise<T | null> {
    const line = await this.lines.next();
    return line.done === true ? null : (JSON.parse(line.value) as T);
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.ended();
  }

  async ended(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, 'exit');
  }
}
