import { inspect } from 'node:util';

/** A header with a secret value. It prints as its reference, and only the door out reads the value. */
export class CredentialHeader {
  readonly #value: string;

  constructor(
    readonly name: string,
    readonly reference: string,
    value: string,
    /** What stands before the secret in the header; null: nothing. */
    readonly scheme: string | null = null,
  ) {
    this.#value = value;
  }

  /** The header for the transport. Whoever calls this writes it to a socket and nowhere else. */
  reveal(): Readonly<Record<string, string>> {
    return { [this.name]: this.#value };
  }

  toString(): string {
    return `[secret:${this.reference}]`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}
