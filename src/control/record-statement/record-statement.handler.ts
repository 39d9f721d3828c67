import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { jsonDigest } from '../../domain/digests/digests.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { hasRole } from '../../identity/caller.js';
import { LateEvidenceRecorder, type Receipt } from '../late-evidence/late-evidence.recorder.js';
import { RecordStatement } from './record-statement.command.js';

/** Records the lines of a statement one by one; a batch that was cut off is sent again and what is known is a duplicate. */
@CommandHandler(RecordStatement)
export class RecordStatementHandler implements ICommandHandler<RecordStatement> {
  constructor(
    private readonly gate: CapabilityGate,
    private readonly recorder: LateEvidenceRecorder,
  ) {}

  async execute({ caller, statementId, capability, lines }: RecordStatement): Promise<readonly Receipt[]> {
    if (!hasRole(caller, 'operator', 'connector')) {
      throw new CountersignError('not_authorized', 'only an operator or a connector may do this');
    }
    const { manifest } = this.gate.get(capability) ?? {};
    if (manifest === undefined) throw new CountersignError('capability_unknown', 'there is no such capability');
    if (manifest.statement === null) {
      throw new CountersignError('statement_not_supported', 'the manifest of the capability declares no statement');
    }
    const receipts: Receipt[] = [];
    for (const { lineId, finding, key, reference, effect } of lines) {
      const receipt = await this.recorder.record({
        source: 'statement',
        capability,
        id: `${statementId}/${lineId}`,
        bodyDigest: jsonDigest({ finding, key, reference, effect }),
        told: { meaning: finding, effect, reference, key },
        tenant: caller.tenant,
        toolCallId: null,
        actor: caller.actor,
      });
      receipts.push({ ...receipt, id: lineId });
    }
    return receipts;
  }
}
