/** Nobody is believed to want more than a day's rest. */
const RETRY_AFTER_MS_MAX = 86_400_000;

/** `Retry-After` (RFC 9110 section 10.2.3): seconds, or the date to wait for. Null when it says nothing usable. */
export function retryAfterMs(value: string | undefined, nowMs: number): number | null {
  const text = value?.trim() ?? '';
  if (text === '') return null;
  const waitMs = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isFinite(waitMs) ? Math.min(Math.max(waitMs, 0), RETRY_AFTER_MS_MAX) : null;
}
