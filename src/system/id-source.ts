import { createIdSource, type IdPrefix } from '../domain/ids/ids.js';
import type { Clock } from './clock.js';
import type { RandomSource } from './random-source.js';

/** Ids of this process, in strictly rising order. A class, so that it can be injected. */
export class IdSource {
  private readonly source;

  constructor(clock: Clock, random: RandomSource) {
    this.source = createIdSource(clock, random);
  }

  next(prefix: IdPrefix): string {
    return this.source.next(prefix);
  }
}
