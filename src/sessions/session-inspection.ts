import { CountersignError } from '../domain/errors/countersign-error.js';
import { decodeRow, payloadDigest } from '../domain/session/row-codec.js';
import type { SessionKey } from '../domain/session/session-key.js';
import type { SessionSnapshot } from '../domain/session/session-state.js';
import { evolveCore } from '../domain/session/session-core.evolve.js';
import { classifyTail, tailOf, type TailClass } from '../domain/session/tail.js';
import type { StoredLog } from './backends/persistence-backend.js';
import { joinedFacts } from './session-facts.js';
import { refuseId } from './session-load.js';
import { failedWith, readOf, type Read, type SessionMedia } from './session-media.js';

export interface InspectOptions {
  /** Also compare every payload with the digest that was written beside it. */
  readonly isDeep?: boolean;
}

/** What is stored of a session, looked at and left as it is. */
export interface InspectReport {
  readonly key: SessionKey;
  readonly log: 'whole' | 'missing' | 'damaged' | 'unsupported' | 'foreign' | 'unreadable';
  readonly tail: TailClass | null;
  /** Something unfinished lies at the end. */
  readonly isTorn: boolean;
  readonly rows: number;
  /** Rows of unknown types that may be passed over. */
  readonly unknownRows: number;
  readonly formatVersion: number | null;
  readonly revision: string | null;
  readonly barrierSeq: number | null;
  /** What is wrong, the code first; empty: nothing was found. */
  readonly problems: readonly string[];
  /** `unavailable`: the medium keeps no text to compare. */
  readonly digests: 'not_asked' | 'match' | 'differ' | 'unavailable';
  readonly snapshot: {
    readonly loadSource: 'main' | 'bak' | 'new';
    readonly notResumable: boolean;
    /** False: no whole log vouches for it. To look at, never to go on from. */
    readonly isVerified: boolean;
    readonly snapshot: SessionSnapshot;
  } | null;
}

/** Never writes. Rejects for `invalid_session_id`, and `session_not_found` where there is nothing at all. */
export async function inspectStored(
  media: SessionMedia,
  key: SessionKey,
  options: InspectOptions,
): Promise<InspectReport> {
  refuseId(key);
  const log = await readOf(media.backend.loadStored(key));
  const snapshot = await readOf(media.snapshots.load(key));
  if (log.ok && log.value === null && !snapshot.ok) throw snapshot.error;
  const seen = await seenIn(media, key, log);
  const stored = log.ok ? log.value : null;
  const digests = await digestsOf(media, key, options.isDeep === true && stored !== null);
  const position = snapshot.ok ? snapshot.value.snapshot.position : null;
  const isVerified =
    seen.log === 'whole' &&
    digests !== 'differ' &&
    position !== null &&
    stored?.rows[position.lastSeq]?.eventId === position.lastEventId;
  const isMissing = failedWith(snapshot, 'session_not_found');
  const problems = [...seen.problems, ...(digests === 'differ' ? ['a payload differs from its digest'] : [])];
  return {
    key,
    ...seen,
    isTorn: stored?.torn !== undefined,
    rows: stored?.rows.length ?? 0,
    formatVersion: stored?.header.formatVersion ?? null,
    revision: stored?.revision ?? null,
    barrierSeq: stored?.barrierSeq ?? null,
    problems: isMissing || snapshot.ok ? problems : [...problems, codeOf(snapshot.error)],
    digests,
    snapshot: snapshot.ok ? { ...snapshot.value, isVerified } : null,
  };
}

type Seen = Pick<InspectReport, 'log' | 'tail' | 'unknownRows' | 'problems'>;

async function seenIn(media: SessionMedia, key: SessionKey, log: Read<StoredLog<unknown> | null>): Promise<Seen> {
  const nothing = { tail: null, unknownRows: 0 } as const;
  if (!log.ok) return { ...nothing, log: conditionOf(codeOf(log.error)), problems: [codeOf(log.error)] };
  if (log.value === null) return { ...nothing, log: 'missing', problems: [] };
  const { header, rows } = log.value;
  const joined = await joinedFacts(media.record, key, rows);
  const facts = joined.ok ? joined.facts : rows.map((row) => (row.kind === 'event' ? row : { ...row, payload: null }));
  const verdict = classifyTail(key, header, facts);
  if (!verdict.ok) {
    const place = verdict.seq === null ? '' : ` at seq ${verdict.seq}`;
    return { ...nothing, log: conditionOf(verdict.code), problems: [`${verdict.code}: ${verdict.problem}${place}`] };
  }
  if (!joined.ok) {
    return { ...nothing, log: 'damaged', problems: [`session_log_corrupt: ${joined.problem} at seq ${joined.seq}`] };
  }
  for (const fact of joined.missing) evolveCore(verdict.core, fact);
  return { log: 'whole', tail: tailOf(verdict.core), unknownRows: verdict.unknownRows, problems: [] };
}

function conditionOf(code: string): InspectReport['log'] {
  if (code === 'session_log_corrupt') return 'damaged';
  if (code === 'session_format_unsupported') return 'unsupported';
  return code === 'session_identity_mismatch' ? 'foreign' : 'unreadable';
}

const codeOf = (error: unknown): string => (error instanceof CountersignError ? error.code : 'unreadable');

async function digestsOf(media: SessionMedia, key: SessionKey, isAsked: boolean): Promise<InspectReport['digests']> {
  if (!isAsked) return 'not_asked';
  if (media.backend.readRaw === undefined) return 'unavailable';
  const text = await readOf(media.backend.readRaw(key));
  if (!text.ok) return 'unavailable';
  const isSame = text.value.split('\n').every((line) => {
    const decoded = decodeRow(line);
    if (!decoded.ok || decoded.row.kind !== 'event') return true;
    return payloadDigest(decoded.row.payload) === decoded.payloadDigest;
  });
  return isSame ? 'match' : 'differ';
}
