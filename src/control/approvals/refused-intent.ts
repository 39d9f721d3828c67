import type { Write } from '../../storage/unit.js';
import type { LoadedCall } from '../../storage/units/load.js';

/** An explicit no to a call: no standing grant covers the same intent again. */
export function refusedIntent({ row }: LoadedCall, now: string): Write {
  return {
    op: 'put',
    table: 'refused_intents',
    row: {
      tenant: row.tenant,
      intent_digest: row.intent_digest,
      tool_call_id: row.tool_call_id,
      refused_at: now,
    },
  };
}
