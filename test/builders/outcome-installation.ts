import {
  GiveFeedback,
  type GivenFeedback,
  type TakenFeedback,
} from '../../src/control/give-feedback/give-feedback.command.js';
import { GiveFeedbackHandler } from '../../src/control/give-feedback/give-feedback.handler.js';
import type { EventPayload } from '../../src/domain/events/catalogue.js';
import type { Caller } from '../../src/identity/caller.js';
import type { TableRow } from '../../src/storage/rows/tables.js';
import { callerWith, Installation, refundCapability } from './installation.js';
import { evidence } from './outcome-examples.js';

/** The success criteria of a refund: the provider and the statement must both show it, within an hour. */
export const SUCCESS = {
  criteria: 'refund_settled',
  within: '1h',
  needs: ['provider_status', 'statement_line'],
  sources: [
    { subject: 'psp', evidence: ['provider_status'] },
    { subject: 'bank', evidence: ['provider_status', 'statement_line'], authoritative: true },
  ],
};

export const source = (sub: string, more: Partial<Caller> = {}): Caller =>
  callerWith({ actor: { sub }, roles: ['feedback'], isAgent: false, ...more });
export const PSP = source('psp');
export const BANK = source('bank');

export const COMPLETED: EventPayload<'tool.call.completed'> = {
  basis: 'direct',
  result: { refundId: 're_1' },
  resultDigest: 'sha256:result',
  resultTruncated: false,
};

/** An installation whose refunds are verified. */
export class VerifyingInstallation extends Installation {
  readonly intake: GiveFeedbackHandler;

  constructor(success: object | null = SUCCESS, more: object = {}) {
    super({ capabilities: [refundCapability({ ...more, ...(success === null ? {} : { success }) })] });
    this.intake = new GiveFeedbackHandler(this.desk, this.gate, this.settings);
  }

  /** A call that the tool has answered. */
  async completed(): Promise<string> {
    const id = await this.propose();
    await this.record(id, { kind: 'complete', completion: COMPLETED, sentAt: null, acceptedAt: this.clock.iso });
    return id;
  }

  outcome(toolCallId: string): TableRow<'outcomes'> | undefined {
    return this.store.rows('outcomes').find((row) => row.tool_call_id === toolCallId);
  }

  give(toolCallId: string, more: Partial<GivenFeedback> = {}, caller: Caller = BANK): Promise<TakenFeedback> {
    return this.intake.execute(
      new GiveFeedback(caller, toolCallId, {
        feedbackId: 'fb-1',
        verdict: 'met',
        criteriaId: 'refund_settled',
        criteriaVersion: '1',
        evidence: [evidence('provider_status'), evidence('statement_line')],
        verifiedAt: this.clock.iso,
        note: null,
        ...more,
      }),
    );
  }
}
