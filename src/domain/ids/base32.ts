/**
 * Crockford's base 32 alphabet in lower case: no i, l, o or u. In ASCII order, so texts of equal length sort as their
 * numbers do.
 */
export const BASE32_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

const PAIRS: readonly string[] = Array.from(
  { length: 1024 },
  (_, number) => BASE32_ALPHABET.charAt(number >> 5) + BASE32_ALPHABET.charAt(number & 31),
);

/** Four characters for a whole number below 2^20. */
export function base32Of20Bits(number: number): string {
  return (PAIRS[number >> 10] as string) + (PAIRS[number & 1023] as string);
}

/** Ten characters for a whole number below 2^48; the first is at most `7`. */
export function base32Of48Bits(number: number): string {
  const high = Math.floor(number / 2 ** 40);
  const middle = Math.floor(number / 2 ** 20) % 2 ** 20;
  return (PAIRS[high] as string) + base32Of20Bits(middle) + base32Of20Bits(number % 2 ** 20);
}
