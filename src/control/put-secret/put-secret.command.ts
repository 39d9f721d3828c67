import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { StoredVersion } from '../../secrets/secret-keeper.js';

/** Stores a new version of a secret of the installation. It prints without the value. */
export class PutSecret extends Command<StoredVersion> {
  readonly #value: string;

  constructor(
    readonly caller: Caller,
    readonly name: string,
    value: string,
  ) {
    super();
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }
}
