import { createScrubber, type Scrubber } from '../proxy/core/scrub.js';

/** Values of one name that are looked for after newer ones came: requests with them may still be answered. */
const KEPT_PER_NAME = 8;

/** Every secret this process has used, so that what comes from outside can be freed of them. Prints as nothing. */
export class KnownSecrets {
  readonly #values = new Map<string, readonly string[]>();
  #scrubber: Scrubber | null = null;

  /** `name` says whose value it is: a newer one does not end the search for the one before. */
  remember(name: string, value: string): void {
    const known = this.#values.get(name) ?? [];
    if (known.at(-1) === value) return;
    this.#values.set(name, [...known.filter((other) => other !== value), value].slice(-KEPT_PER_NAME));
    this.#scrubber = null;
  }

  get scrub(): Scrubber {
    return (this.#scrubber ??= createScrubber(this.all()));
  }

  scrubWith(more: readonly string[]): Scrubber {
    return createScrubber([...this.all(), ...more]);
  }

  private all(): readonly string[] {
    return [...this.#values.values()].flat();
  }
}
