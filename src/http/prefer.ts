import { CountersignError } from '../domain/errors/countersign-error.js';

/** RFC 7240 section 4.3: how long the client is willing to wait; bounded by the settings. 0 when it does not say. */
export function preferredWaitMs(header: string | undefined, waitMsMax: number): number {
  if (header === undefined) return 0;
  for (const preference of header.split(',')) {
    const [name, value] = (preference.split(';')[0] ?? '').split('=').map((part) => part.trim());
    if (name?.toLowerCase() !== 'wait') continue;
    const digits = (value ?? '').replace(/^"(.*)"$/, '$1');
    const seconds = Number(digits);
    if (digits === '' || !Number.isFinite(seconds) || seconds < 0) {
      throw new CountersignError('invalid_request', 'Prefer: wait needs a number of seconds');
    }
    return waitMsFrom(seconds, waitMsMax);
  }
  return 0;
}

export function waitMsFrom(seconds: number | undefined, waitMsMax: number): number {
  return Math.min(Math.round((seconds ?? 0) * 1000), waitMsMax);
}
