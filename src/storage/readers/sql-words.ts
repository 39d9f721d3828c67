/** `('a', 'b')` of words of our own: lower-case letters and underscores, so nothing needs quoting. */
export function wordList(...words: readonly string[]): string {
  for (const word of words) if (!/^[a-z_]+$/.test(word)) throw new Error('not a word of ours');
  return `(${words.map((word) => `'${word}'`).join(', ')})`;
}
