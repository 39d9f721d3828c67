import { inspect } from 'node:util';

/**
 * A secret that prints as its name: in texts, in JSON, in logs and in errors. Only whoever hands the value to a socket or a
 * signature calls `reveal`.
 */
export class SecretRef {
  readonly #value: string;

  constructor(
    readonly name: string,
    readonly version: number,
    value: string,
  ) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return `[secret:${this.name}@${this.version}]`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}
