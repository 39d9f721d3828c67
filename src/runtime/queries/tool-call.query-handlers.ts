import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { principalKey, principalOf } from '../../domain/principal.js';
import { isTerminal } from '../../domain/tool-call/tool-call.state.js';
import { hasRole, type Caller } from '../../identity/caller.js';
import { Store } from '../../storage/store.js';
import { loadCall, type LoadedCall } from '../../storage/units/load.js';
import { after } from '../../system/timers.js';
import { CallWatch } from '../call-watch.js';
import { ToolCallViews, type ToolCallView } from '../views/tool-call.view.js';
import { GetToolCall, ListToolCalls, type PageOf } from './tool-call.queries.js';

@QueryHandler(GetToolCall)
export class GetToolCallHandler implements IQueryHandler<GetToolCall> {
  constructor(
    private readonly store: Store,
    private readonly watch: CallWatch,
    private readonly views: ToolCallViews,
  ) {}

  async execute({ caller, toolCallId, waitMs, gone }: GetToolCall): Promise<ToolCallView> {
    const until = performance.now() + waitMs;
    for (;;) {
      // Listen before reading: what happens between the two wakes us.
      const listening = this.watch.listen(toolCallId);
      try {
        const call = await this.find(caller, toolCallId);
        const leftMs = until - performance.now();
        if (leftMs <= 0 || gone.aborted || this.watch.isClosed || isTerminal(call.state.status))
          return await this.views.of(call);
        await firstOf(listening.changed, leftMs, gone);
      } finally {
        listening.stop();
      }
    }
  }

  private async find(caller: Caller, toolCallId: string): Promise<LoadedCall> {
    const call = await loadCall(this.store.read, caller.tenant, toolCallId);
    const own = call !== null && call.row.principal === principalKey(principalOf(caller.actor));
    if (call === null || !(own || hasRole(caller, 'operator', 'auditor'))) {
      throw new CountersignError('tool_call_not_found', 'there is no such tool call');
    }
    return call;
  }
}

@QueryHandler(ListToolCalls)
export class ListToolCallsHandler implements IQueryHandler<ListToolCalls> {
  constructor(
    private readonly store: Store,
    private readonly views: ToolCallViews,
  ) {}

  async execute({ caller, filter }: ListToolCalls): Promise<PageOf<ToolCallView>> {
    const page = await this.store.read.toolCalls({
      tenant: caller.tenant,
      limit: filter.limit,
      cursor: filter.cursor,
      unresolvedOnly: filter.unresolvedOnly,
      ...(filter.contradictedOnly === true ? { contradictedOnly: true } : {}),
      ...(filter.statuses === null ? {} : { statuses: filter.statuses }),
      ...(filter.runId === null ? {} : { runId: filter.runId }),
      ...(filter.capability === null ? {} : { capability: filter.capability }),
      ...(filter.principal === null ? {} : { principal: filter.principal }),
      ...(filter.from === null ? {} : { from: filter.from }),
      ...(filter.to === null ? {} : { to: filter.to }),
    });
    const items: ToolCallView[] = [];
    for (const row of page.rows) {
      const call = await loadCall(this.store.read, caller.tenant, row.tool_call_id);
      if (call !== null) items.push(await this.views.of(call));
    }
    return { items, nextCursor: page.nextCursor };
  }
}

/** Answers at the change, at the end of the time, or when the client has gone. */
function firstOf(changed: Promise<void>, timeoutMs: number, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = after(timeoutMs, done);
    function done(): void {
      timer.cancel();
      gone.removeEventListener('abort', done);
      resolve();
    }
    gone.addEventListener('abort', done, { once: true });
    void changed.then(done);
  });
}
