import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { Rotated } from '../../secrets/key-rotation.js';

/** Brings everything under the current key-encryption key, and answers when it is. */
export class RewrapKeys extends Command<Rotated> {
  constructor(readonly caller: Caller) {
    super();
  }
}
