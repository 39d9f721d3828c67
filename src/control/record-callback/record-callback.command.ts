import { Command } from '@nestjs/cqrs';
import type { JsonValue } from '../../domain/json/json-value.js';
import type { Caller } from '../../identity/caller.js';
import type { Delivery } from '../../secrets/callback-secrets.js';
import type { Receipt } from '../late-evidence/late-evidence.recorder.js';

/** What the address of a callback names: a call, by its id or our key, or the capability alone. */
export type Address = { readonly call: string } | { readonly capability: string };

/** A tool tells how a call went on. Its signature is what counts; a token beside it must fit. */
export class RecordCallback extends Command<Receipt> {
  constructor(
    readonly caller: Caller | null,
    readonly address: Address,
    readonly delivery: Delivery,
    /** The body, parsed strictly from the bytes that are signed. */
    readonly body: JsonValue,
  ) {
    super();
  }
}
