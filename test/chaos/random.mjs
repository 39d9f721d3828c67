/** Numbers that look random and are the same for the same seed: a run can be repeated as far as its schedule goes. */
export class Random {
  #state;

  /** @param {number} seed */
  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** At least 0, less than 1 (Mulberry32). */
  fraction() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `min` to `max`. @param {number} min @param {number} max */
  whole(min, max) {
    return min + Math.floor(this.fraction() * (max - min + 1));
  }

  /** @template T @param {readonly T[]} list @returns {T} */
  oneOf(list) {
    return /** @type {T} */ (list[this.whole(0, list.length - 1)]);
  }
}

/** A seed of its own for a text. @param {number} seed @param {string} text */
export function seedFor(seed, text) {
  let hash = seed ^ 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
