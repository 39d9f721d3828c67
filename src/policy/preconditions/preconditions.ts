import { Injectable } from '@nestjs/common';
import type { Capability } from '../../capabilities/manifest.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { DecisionOutcome } from '../../domain/events/catalogue.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { textsAt } from '../../domain/redaction/redact.js';
import { Store } from '../../storage/store.js';
import type { LoadedApproval, LoadedCall } from '../../storage/units/load.js';
import { Logger } from '../../system/logger.js';
import { changedSince, digestsIn, failing, type Readings } from '../core/precondition.js';
import { PreconditionReader } from './precondition-reader.js';

/** Effective arguments in clear, and the pointers of those that nobody may see. */
export interface About {
  readonly args: JsonObject;
  readonly redacted: readonly string[];
}

/** What was read just before a call would be granted or sent, of which call it is, and what follows. */
export interface Ground {
  readonly readings: Readings;
  /** `fails`: no person was asked, and what the manifest expects is not so. `changed`: it is not as people were shown. */
  readonly verdict: 'stands' | 'changed' | 'fails';
  /** Those that the verdict is about. */
  readonly broken: Readings;
  /** Version of the call when it was looked at; an older look says nothing. */
  readonly callVersion: number;
}

const RETRY_AFTER_SECONDS = 5;

/** Whether a question is about to be asked that has to show what it rests on. */
export function needsReadings({ manifest }: Capability, { outcome }: { readonly outcome: DecisionOutcome }): boolean {
  return manifest.preconditions !== undefined && outcome === 'requires_confirmation';
}

/**
 * The business preconditions of a call (check V6 of an approval): read before people are asked, before a vote would grant,
 * and before anything is sent. What cannot be read is never taken to hold.
 */
@Injectable()
export class Preconditions {
  constructor(
    private readonly reader: PreconditionReader,
    private readonly store: Store,
    private readonly logger: Logger,
  ) {}

  /**
   * Reads all of them now, side by side.
   *
   * @throws CountersignError `precondition_unavailable` when one of them cannot be read
   */
  async read(capability: Capability, { args, redacted }: About): Promise<Readings> {
    const about = { args, masked: textsAt(args, redacted) };
    const { preconditions = [] } = capability.manifest;
    const found = await Promise.all(preconditions.map((one) => this.reader.read(capability, one, about)));
    return found.map((reading, index) => {
      if (!('cause' in reading)) return reading;
      const { name = '', title = '' } = preconditions[index] ?? {};
      this.logger.warn('a precondition could not be read', { capability: capability.id, name, cause: reading.cause });
      throw new CountersignError('precondition_unavailable', `it cannot be told now whether this holds: ${title}`, {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    });
  }

  /**
   * Reads all of them now and holds them against what the approval showed, where there is one.
   *
   * @throws CountersignError `precondition_unavailable`
   */
  async groundOf(
    capability: Capability,
    about: About,
    call: LoadedCall,
    approval: LoadedApproval | null,
  ): Promise<Ground> {
    const shown = approval === null ? null : await this.shownIn(approval);
    const readings = await this.read(capability, about);
    const rules = capability.manifest.preconditions ?? [];
    const broken = approval === null ? failing(readings) : changedSince(rules, readings, shown);
    const ifBroken = approval === null ? 'fails' : 'changed';
    return { readings, broken, verdict: broken.length === 0 ? 'stands' : ifBroken, callVersion: call.row.version };
  }

  /** From the sealed question itself: no row repeats it, so no row can say otherwise. */
  private async shownIn({ row }: LoadedApproval): Promise<ReadonlyMap<string, string> | null> {
    const event = await this.store.read.event(row.tenant, row.required_event_id);
    const isOwn = event?.envelope.streamId === row.approval_id && event.envelope.eventType === 'approval.required';
    return event !== null && isOwn ? digestsIn(event.payload['preconditions']) : null;
  }
}
