import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { Settings } from '../../config/settings.js';
import { sha256Hex } from '../../domain/digests/digests.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { readCallback } from '../../proxy/core/callback-reading.js';
import { CallbackSecrets } from '../../secrets/callback-secrets.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { LateEvidenceRecorder, type Receipt } from '../late-evidence/late-evidence.recorder.js';
import { RecordCallback, type Address } from './record-callback.command.js';

/**
 * Verifies a callback and records it as evidence. Whoever cannot sign learns nothing: an unknown call, a capability
 * without callbacks and a wrong signature have one answer.
 */
@CommandHandler(RecordCallback)
export class RecordCallbackHandler implements ICommandHandler<RecordCallback> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly secrets: CallbackSecrets,
    private readonly recorder: LateEvidenceRecorder,
    private readonly settings: Settings,
  ) {}

  async execute({ caller, address, delivery, body }: RecordCallback): Promise<Receipt> {
    if (delivery.body.byteLength > this.settings.callbacks.bodyBytesMax) {
      throw new CountersignError('payload_too_large', 'the body of a callback is too large');
    }
    const addressed = await this.addressed(address);
    const name = 'capability' in address ? address.capability : addressed?.capability;
    const reading = name === undefined ? null : (this.gate.get(name)?.manifest.callback ?? null);
    const isOfTenant = caller === null || addressed === null || addressed.tenant === caller.tenant;
    if (name === undefined || reading === null || !isOfTenant || !this.secrets.isSigned(reading.secret, delivery)) {
      throw new CountersignError('callback_unauthenticated', 'the callback is not signed as agreed');
    }
    return this.recorder.record({
      source: 'callback',
      capability: name,
      id: delivery.id,
      bodyDigest: `sha256:${sha256Hex(delivery.body)}`,
      told: readCallback(body, reading),
      tenant: null,
      toolCallId: addressed?.tool_call_id ?? null,
      actor: caller?.actor ?? { sub: `callback:${name}` },
    });
  }

  private async addressed(address: Address): Promise<TableRow<'tool_calls'> | null> {
    if ('capability' in address) return null;
    const { read } = this.desk;
    const byId = await read.callAnywhere(address.call);
    if (byId !== null) return byId;
    const toolCallId = await read.callOfKey(address.call);
    return toolCallId === null ? null : read.callAnywhere(toolCallId);
  }
}
