import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FeedbackRepresentation } from '../client/contract/feedback.js';
import { GiveFeedback } from '../control/give-feedback/give-feedback.command.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import type { Caller } from '../identity/caller.js';
import { GIVE_FEEDBACK } from './feedback.operations.js';
import { Implements } from './openapi/operation.js';
import { readInput } from './read-input.js';
import { toUtc } from './timestamps.js';

@Controller('v1/tool-calls')
export class FeedbackController {
  constructor(private readonly commands: CommandBus) {}

  /** Durable when it answers. A source sees neither arguments nor result of the call. */
  @Post(':toolCallId/feedback')
  @HttpCode(200)
  @AllowRoles('feedback')
  @Implements(GIVE_FEEDBACK)
  async give(
    @CurrentCaller() caller: Caller,
    @Param('toolCallId') toolCallId: string,
    @Body() input: unknown,
  ): Promise<FeedbackRepresentation> {
    const { evidenceRefs, verifiedAt, note, ...rest } = readInput(GIVE_FEEDBACK.body, input);
    const taken = await this.commands.execute(
      new GiveFeedback(caller, toolCallId, {
        ...rest,
        evidence: evidenceRefs.map(({ kind, ref, digest }) => ({ kind, ref, digest: digest ?? null })),
        verifiedAt: toUtc(verifiedAt),
        note: note ?? null,
      }),
    );
    return {
      toolCallId: taken.toolCallId,
      feedbackId: taken.feedbackId,
      status: 'received',
      replayed: taken.replayed,
      outcome: { status: taken.outcome },
      links: { toolCall: `/v1/tool-calls/${taken.toolCallId}` },
    };
  }
}
