import { setTimeout as pause } from 'node:timers/promises';

const STEP_MS = 25;

/**
 * Asks again and again until the answer is good, and gives that answer.
 *
 * @throws Error with the last answer when the time is over.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T> | T,
  isGood: (answer: T) => boolean,
  withinMs = 15_000,
): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (isGood(answer)) return answer;
    if (Date.now() >= end)
      throw new Error(`${what}: not within ${withinMs} ms; last: ${JSON.stringify(answer)?.slice(0, 2_000)}`);
    await pause(STEP_MS);
  }
}
