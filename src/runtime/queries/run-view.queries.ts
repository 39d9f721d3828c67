import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import { runState } from '../../storage/rows/run.row.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { Store } from '../../storage/store.js';
import { callFromRow } from '../../storage/units/load.js';
import { deriveRunPage, type RunPage, type SubagentProgress } from '../views/run.view.js';
import { runSeenBy } from './run-access.js';

/** How many of each kind a page shows. */
const SHOWN_MAX = 100;

export interface RunPageView extends RunPage {
  /** Position of the newest event of the installation and of the newest durable one: nothing is shown before it is durable. */
  readonly positions: { readonly head: number; readonly durable: number };
}

export class GetRunView extends Query<RunPageView> {
  constructor(
    readonly caller: Caller,
    readonly runId: string,
  ) {
    super();
  }
}

@QueryHandler(GetRunView)
export class GetRunViewHandler implements IQueryHandler<GetRunView> {
  constructor(private readonly store: Store) {}

  async execute({ caller, runId }: GetRunView): Promise<RunPageView> {
    // Before the reads, so that it is never beyond what they saw.
    const head = this.store.feed.head() - 1;
    const run = await runSeenBy(this.store, caller, runId, 'operator', 'auditor', 'approver');
    const { tenant } = caller;
    const { read } = this.store;
    const [calls, approvals, subagents, artifacts] = await Promise.all([
      read.openCalls(tenant, runId, SHOWN_MAX),
      read.questionsOfRun(tenant, runId, SHOWN_MAX),
      read.runObjects(tenant, runId, 'subagent', SHOWN_MAX),
      read.runObjects(tenant, runId, 'artifact', SHOWN_MAX),
    ]);
    const openCalls = await Promise.all(
      calls.map(async (row) => ({ toolCallId: row.tool_call_id, state: (await callFromRow(read, row)).state })),
    );
    const page = deriveRunPage({
      runId,
      state: runState(run),
      openCalls,
      pendingApprovals: approvals.map(question),
      subagents: subagents.map((row) => ({
        subagentId: row.object_id,
        state: row.state as SubagentProgress['state'],
      })),
      artifacts: artifacts.map((row) => ({ artifactId: row.object_id, createdAt: row.created_at })),
    });
    return { ...page, positions: { head, durable: head } };
  }
}

const question = (row: TableRow<'approvals'>) => ({
  approvalId: row.approval_id,
  toolCallId: row.tool_call_id,
  capability: row.capability,
  risk: row.risk,
  decideBy: row.decide_by,
  link: `/v1/approvals/${row.approval_id}`,
});
