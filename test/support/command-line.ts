import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../dist/cli/countersign.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `countersign ARGS` as a shell would, with nothing of this process's environment, and waits for its end. */
export async function countersign(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  program = PROGRAM,
): Promise<Ended> {
  const child = launch(args, env, program);
  const code = await child.ended;
  return { code, out: child.out(), err: child.err() };
}

/** The same for a program that stays. */
export function launch(args: readonly string[], env: Readonly<Record<string, string>>, program = PROGRAM) {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString('utf8')));
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return { ended, out: () => out, err: () => err, kill: (signal: NodeJS.Signals) => child.kill(signal) };
}
