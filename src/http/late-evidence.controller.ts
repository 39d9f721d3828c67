import { Body, Controller, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ReceiptRepresentation, StatementReceipt } from '../client/contract/late-evidence.js';
import { RecordCallback, type Address } from '../control/record-callback/record-callback.command.js';
import { RecordStatement } from '../control/record-statement/record-statement.command.js';
import type { JsonValue } from '../domain/json/json-value.js';
import { AllowRoles, CurrentCaller, MaybeCaller, Signed } from '../identity/bearer.guard.js';
import type { Caller } from '../identity/caller.js';
import { signedBodyOf } from './json-body.js';
import { CALL_BACK, CALL_BACK_FOR, RECORD_STATEMENT } from './late-evidence.operations.js';
import { readHeaders, type SentHeaders } from './openapi/headers.js';
import { Implements } from './openapi/operation.js';
import { readInput } from './read-input.js';

/** Where tools tell late results, and where connectors and operators hand in statements. */
@Controller('v1')
export class LateEvidenceController {
  constructor(private readonly commands: CommandBus) {}

  /** `toolCallId`: the id of the call, or the key that the tool got from us. */
  @Post('tool-calls/:toolCallId/callback')
  @Signed()
  @AllowRoles('connector')
  @Implements(CALL_BACK)
  callback(
    @MaybeCaller() caller: Caller | null,
    @Param('toolCallId') call: string,
    @Body() body: JsonValue,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReceiptRepresentation> {
    return this.record(caller, { call }, { body, request, reply });
  }

  /** For tools that call back to one address whatever the call; the body names it. */
  @Post('callbacks/:capability')
  @Signed()
  @AllowRoles('connector')
  @Implements(CALL_BACK_FOR)
  callbackFor(
    @MaybeCaller() caller: Caller | null,
    @Param('capability') capability: string,
    @Body() body: JsonValue,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReceiptRepresentation> {
    return this.record(caller, { capability }, { body, request, reply });
  }

  @Post('statements')
  @HttpCode(200)
  @AllowRoles('connector', 'operator')
  @Implements(RECORD_STATEMENT)
  async statement(@CurrentCaller() caller: Caller, @Body() input: unknown): Promise<StatementReceipt> {
    const { statementId, capability, lines } = readInput(RECORD_STATEMENT.body, input);
    const receipts = await this.commands.execute(
      new RecordStatement(
        caller,
        statementId,
        capability,
        lines.map(({ lineId, finding, downstreamKey, reference, effect }) => ({
          lineId,
          finding,
          key: downstreamKey ?? null,
          reference: reference ?? null,
          effect: (effect ?? null) as JsonValue,
        })),
      ),
    );
    return { statementId, lines: [...receipts] };
  }

  private async record(
    caller: Caller | null,
    address: Address,
    { body, request, reply }: { body: JsonValue; request: FastifyRequest; reply: FastifyReply },
  ): Promise<ReceiptRepresentation> {
    const headers = readHeaders(CALL_BACK.headers, request.headers as SentHeaders);
    const delivery = {
      id: headers['webhook-id'],
      timestamp: headers['webhook-timestamp'],
      signature: headers['webhook-signature'],
      body: signedBodyOf(request),
    };
    const receipt = await this.commands.execute(new RecordCallback(caller, address, delivery, body ?? null));
    void reply.code(receipt.status === 'duplicate' ? 200 : 202);
    return receipt;
  }
}
