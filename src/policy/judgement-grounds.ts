import { Injectable } from '@nestjs/common';
import { FactReader } from './facts/fact-reader.js';
import { GrantBook } from './grants/grant-book.js';
import { Preconditions } from './preconditions/preconditions.js';

/** What a judgement rests on besides the request and the policy. */
@Injectable()
export class JudgementGrounds {
  constructor(
    /** What the server knows: counters, time, denials, suspensions. */
    readonly facts: FactReader,
    /** The standing allows of people, as facts for the policy. */
    readonly grants: GrantBook,
    /** What else must be so in the world: looked at by whoever asks people, counts a vote or sends. */
    readonly preconditions: Preconditions,
  ) {}
}
