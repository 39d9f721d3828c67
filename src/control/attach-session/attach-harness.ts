import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { Caller } from '../../identity/caller.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { loadedSession, SessionInUnit } from '../../storage/units/session-in-unit.js';
import type { UnitDesk } from '../../storage/units/unit-desk.js';
import type { Harness } from '../open-session/open-session.command.js';
import { loadOwnSession } from '../own-session.js';

const TRIES_MAX = 3;

/**
 * Begins the next owner epoch. `durableSeq`: up to where the log is on disk, so that a log that is shorter later is known to have
 * lost what was promised.
 */
export async function attachHarness(
  desk: UnitDesk,
  caller: Caller,
  sessionId: string,
  attachment: { readonly harness: Harness; readonly durableSeq: number },
): Promise<TableRow<'sessions'>> {
  const { harness, durableSeq } = attachment;
  for (let tries = 1; ; tries += 1) {
    const row = await loadOwnSession(desk.read, caller, sessionId);
    const draft = desk.begin({
      tenant: caller.tenant,
      lane: 'admit',
      actor: caller.actor,
      correlationId: sessionId,
      sessionId,
      occurredAt: desk.now(),
      causationId: null,
      causeKind: 'external',
    });
    const session = new SessionInUnit(draft, loadedSession(row)).do({
      kind: 'attach',
      harnessInstanceId: harness.instanceId,
      harnessVersion: harness.version,
      durableSeq,
    });
    try {
      await desk.commit(draft);
      // The epoch of this attachment: another one may have taken over again before the row could be read.
      return { ...row, owner_epoch: session.state?.ownerEpoch ?? row.owner_epoch };
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
      if (tries === TRIES_MAX) throw new CountersignError('contended', 'others attach at the same time');
    }
  }
}
