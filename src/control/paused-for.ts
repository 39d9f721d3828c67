import { CountersignError } from '../domain/errors/countersign-error.js';

const WHY = {
  paused: 'calls like this one are paused',
  capability_paused: 'calls like this one are paused',
  store_held: 'the store is held: it is restored or older than known, and an operator has not accepted it',
} as const;

const RETRY_AFTER_SECONDS = 10;

/** The refusal of what would be sent while it may not be: nothing is recorded, and it may be asked again. */
export const pausedFor = (code: keyof typeof WHY): CountersignError =>
  new CountersignError(code, WHY[code], { retryAfterSeconds: RETRY_AFTER_SECONDS });
