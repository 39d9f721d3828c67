const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

const WORD = /^(0|[1-9][0-9]{0,8})(ms|s|m|h|d)$/;

export const DAY_MS = UNIT_MS.d;

/**
 * Milliseconds of a duration as manifests write it: a whole number of milliseconds, or a whole number and one unit in a word (`500ms`,
 * `30s`, `10m`, `24h`, `7d`). Null for everything else: no fractions, no sums such as `1h30m`, no sign, no space.
 */
export function parseDuration(value: unknown): number | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : null;
  const word = typeof value === 'string' ? WORD.exec(value) : null;
  return word === null ? null : Number(word[1]) * UNIT_MS[word[2] as keyof typeof UNIT_MS];
}

/** The shortest word for a number of milliseconds, for messages. */
export function durationWord(ms: number): string {
  const unit = (['d', 'h', 'm', 's'] as const).find((name) => ms > 0 && ms % UNIT_MS[name] === 0) ?? 'ms';
  return `${ms / UNIT_MS[unit]}${unit}`;
}
