/** Part of `Tables`: who is told of events, and what they would not take. */
export interface OutboxTables {
  /** How far each sink has been told, and who tells it. */
  sink_cursors: {
    sink: string;
    kind: string;
    /** Everything up to here has been delivered, passed over by the filter or parked; -1 before the first. */
    position: number;
    /** What lies before it was never meant for this sink. */
    first_position: number;
    /** JSON: string[] of event types; null: all. */
    types: string | null;
    /** Epoch of the instance that relays: only it moves this row. */
    owner_epoch: number;
    /** Both null unless an operator's replay is under way: what it has repeated, and where it ends. */
    replay_position: number | null;
    replay_to: number | null;
    /** Why the sink takes nothing now; null while it does. */
    last_error: string | null;
    failing_since: string | null;
    updated_at: string;
  };
  /** What a sink refused, and what waits behind it in the same partition. */
  sink_parked: {
    sink: string;
    position: number;
    partition: string;
    tries: number;
    next_at: string;
    state: 'parked' | 'dead';
    last_error: string | null;
    parked_at: string;
  };
}
