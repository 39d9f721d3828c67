interface WellFormedText {
  isWellFormed(): boolean;
}

/**
 * True when every surrogate of the text is part of a pair, that is, when the text has a UTF-8 form. Every supported
 * Node has `String.prototype.isWellFormed` (ECMAScript 2024, 22.1.3.10), whatever TypeScript library is configured.
 */
export function isWellFormed(text: string): boolean {
  return (text as unknown as WellFormedText).isWellFormed();
}
