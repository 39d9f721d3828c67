import { BASE32_ALPHABET } from './base32.js';

const TIME_CHARACTERS = 10;

/** The millisecond in which an id of ours was made, as its text says; NaN for any other text. */
export function timeOfId(id: string): number {
  const body = id.slice(id.indexOf('_') + 1);
  let ms = 0;
  for (let index = 0; index < TIME_CHARACTERS; index += 1) {
    const digit = BASE32_ALPHABET.indexOf(body[index] ?? '?');
    ms = digit < 0 ? Number.NaN : ms * 32 + digit;
  }
  return ms;
}
