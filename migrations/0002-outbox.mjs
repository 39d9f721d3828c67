/** @import { MigrationInterface, QueryRunner } from 'typeorm' */

/**
 * What each sink has been given, what it refused, and both together as a view. A committed event is its own outbox
 * entry: nothing here has a row per event.
 *
 * @implements {MigrationInterface}
 */
export class Outbox1767312000000 {
  name = 'Outbox1767312000000';

  /**
   * @param {QueryRunner} runner
   * @returns {Promise<void>}
   */
  async up(runner) {
    for (const statement of [...OPERATIONAL, OUTBOX_VIEW, 'PRAGMA user_version = 2']) await runner.query(statement);
  }

  /** @returns {Promise<void>} */
  async down() {
    throw new Error('evidence is never migrated backwards; restore the backup that was made before the migration');
  }
}

const OPERATIONAL = [
  `CREATE TABLE sink_cursors (
    sink TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= -1),
    first_position INTEGER NOT NULL CHECK (first_position >= 0),
    types TEXT,
    owner_epoch INTEGER NOT NULL,
    replay_position INTEGER,
    replay_to INTEGER,
    last_error TEXT,
    failing_since TEXT,
    updated_at TEXT NOT NULL,
    CHECK ((replay_position IS NULL) = (replay_to IS NULL))
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE sink_parked (
    sink TEXT NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    partition TEXT NOT NULL,
    tries INTEGER NOT NULL CHECK (tries >= 0),
    next_at TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('parked', 'dead')),
    last_error TEXT,
    parked_at TEXT NOT NULL,
    PRIMARY KEY (sink, position)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX sink_parked_state ON sink_parked (sink, state, position)`,
];

/** One row per event and sink that wants it. */
const OUTBOX_VIEW = `CREATE VIEW outbox AS
  SELECT c.sink AS sink, p.idx AS position, e.event_id AS event_id, e.event_type AS event_type,
    CASE
      WHEN k.state IS NOT NULL THEN k.state
      WHEN p.idx <= c.position THEN 'published'
      ELSE 'pending'
    END AS state
  FROM sink_cursors AS c
  JOIN positions AS p ON p.idx >= c.first_position
  JOIN events AS e ON e.event_id = p.event_id
  LEFT JOIN sink_parked AS k ON k.sink = c.sink AND k.position = p.idx
  WHERE c.types IS NULL OR e.event_type IN (SELECT value FROM json_each(c.types))`;
