import { OpenRun } from '../../src/control/open-run/open-run.command.js';
import { OpenRunHandler } from '../../src/control/open-run/open-run.handler.js';
import { RecordInRun, type Recorded, type Statement } from '../../src/control/record-in-run/record-in-run.command.js';
import { RecordInRunHandler } from '../../src/control/record-in-run/record-in-run.handler.js';
import type { Caller } from '../../src/identity/caller.js';
import { AGENT, type Installation } from './installation.js';
import { reasoned } from './run-examples.js';

type StatementOf<K extends Statement['kind']> = Extract<Statement, { readonly kind: K }>;

export const turn = (clientId = 'turn-1'): StatementOf<'turn'> => ({ kind: 'turn', clientId });

export const reasoning = (turnId: string, more: Partial<StatementOf<'reasoning'>> = {}): StatementOf<'reasoning'> => ({
  kind: 'reasoning',
  clientId: 'reason-1',
  turnId,
  intentId: null,
  skillId: null,
  reasoning: reasoned(),
  ...more,
});

export const artifact = (more: Partial<StatementOf<'artifact'>> = {}): StatementOf<'artifact'> => ({
  kind: 'artifact',
  clientId: 'report-1',
  reasoningObjectId: null,
  toolCallId: null,
  artifact: { goalRef: 'goal-1', mediaType: 'text/csv', digest: 'sha256:1', location: 's3://reports/1' },
  ...more,
});

export const subagent = (more: Partial<StatementOf<'subagent'>> = {}): StatementOf<'subagent'> => ({
  kind: 'subagent',
  clientId: 'helper-1',
  toolCallId: null,
  spawning: { childSessionId: 'ses_2', goalRef: 'goal-1' },
  ...more,
});

export async function openRun({ desk }: Installation, label = 'refunds', caller: Caller = AGENT): Promise<string> {
  return (await new OpenRunHandler(desk).execute(new OpenRun(caller, label, 'goal-1'))).runId;
}

export function state(
  { desk }: Installation,
  runId: string | null,
  statement: Statement,
  caller: Caller = AGENT,
): Promise<Recorded> {
  return new RecordInRunHandler(desk).execute(new RecordInRun(caller, runId, statement));
}

/** A run with a turn and a judgement; answers the judgement. */
export async function reasonedRun(installation: Installation): Promise<Recorded> {
  const runId = await openRun(installation);
  const { objectId: turnId } = await state(installation, runId, turn());
  return state(installation, null, reasoning(turnId));
}
