import type { EventEnvelope } from '../../../domain/events/envelope.js';
import { canonicalJson } from '../../../domain/json/canonical-json.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/json-value.js';
import { DEFAULT_JSON_LIMITS, parseStrictJson } from '../../../domain/json/strict-json.js';
import { WITHHELD_REASONS } from '../bundle/entry-line.js';
import { commitmentText, isLeafMember, leafTextHash, payloadCommitment } from '../leaf.js';
import type { Entry } from './entry.js';
import type { FindingCode } from './findings.js';
import { asText, isCount, isDigest } from './part-shapes.js';

/** The entry of a line and what is wrong with its hashes; no entry where the line is none. */
export interface ReadEntry {
  readonly entry: Entry | null;
  readonly problem: Extract<FindingCode, 'entry_malformed' | 'leaf_differs' | 'payload_differs'> | null;
}

const SALT = /^[0-9a-f]{32}$/;
/** A number that two readers of JSON could take for different ones: such a line is read by the strict parser as well. */
const DOUBTFUL_NUMBER = /(?:":|[,[])-?[0-9][0-9.]*(?:[0-9]{15}|[eE])/;
const LIMITS = { ...DEFAULT_JSON_LIMITS, bytesMax: 0x1fffffff, depthMax: 128, stringUnitsMax: 0x1fffffff };
const UTF8 = new TextEncoder();

/** Reads one line without its newline. Only the one canonical way to write an entry is an entry. */
export function readEntry(line: string): ReadEntry {
  const value = parsed(line);
  if (!isJsonObject(value)) return MALFORMED;
  const { position, leafHash, leaf } = value;
  if (!isCount(position) || !isDigest(leafHash)) return MALFORMED;
  if (leaf === undefined) return readHidden(line, position, leafHash);
  return isLeaf(leaf) ? readVisible(line, value, leaf, { position, leafHash }) : MALFORMED;
}

const MALFORMED: ReadEntry = { entry: null, problem: 'entry_malformed' };

function readHidden(line: string, position: number, leafHash: string): ReadEntry {
  if (line !== `{"leafHash":"${leafHash}","position":${position}}`) return MALFORMED;
  return { entry: { kind: 'hidden', position, leafHash: digestBytes(leafHash) }, problem: null };
}

type Leaf = EventEnvelope & { readonly payloadCommitment: string };
type Written = { readonly position: number; readonly leafHash: string };

function readVisible(line: string, value: JsonObject, leaf: Leaf, { position, leafHash }: Written): ReadEntry {
  const { salt, withheld, payload } = value;
  let leafText: string;
  let payloadText: string | null = null;
  try {
    leafText = canonicalJson(leaf as unknown as JsonValue);
    if (isJsonObject(payload)) payloadText = canonicalJson(payload);
  } catch {
    return MALFORMED;
  }
  const open = `,"payload":${payloadText},"position":${position},"salt":"${asText(salt)}"}`;
  const closed = `,"position":${position},"withheld":"${asText(withheld)}"}`;
  if (line !== `{"leaf":${leafText},"leafHash":"${leafHash}"${payloadText === null ? closed : open}`) {
    return MALFORMED;
  }
  const ownHash = leafTextHash(leafText);
  const base = { position, leafHash: ownHash, envelope: leaf as EventEnvelope };
  const differs = commitmentText(ownHash) === leafHash ? null : 'leaf_differs';
  if (payloadText === null) {
    const isReason = (WITHHELD_REASONS as readonly unknown[]).includes(withheld);
    return isReason ? { entry: { kind: 'withheld', ...base }, problem: differs } : MALFORMED;
  }
  if (typeof salt !== 'string' || !SALT.test(salt)) return MALFORMED;
  const commitment = payloadCommitment(new Uint8Array(Buffer.from(salt, 'hex')), UTF8.encode(payloadText));
  const isCommitted = commitmentText(commitment) === leaf.payloadCommitment;
  const entry: Entry = { kind: 'open', ...base, payload: payload as JsonObject };
  return { entry, problem: differs ?? (isCommitted ? null : 'payload_differs') };
}

function parsed(line: string): JsonValue | undefined {
  try {
    const value = JSON.parse(line) as JsonValue;
    if (DOUBTFUL_NUMBER.test(line) && !parseStrictJson(line, LIMITS).ok) return undefined;
    return value;
  } catch {
    return undefined;
  }
}

const digestBytes = (digest: string): Uint8Array => new Uint8Array(Buffer.from(digest.slice('sha256:'.length), 'hex'));

const TEXTS = [
  'causeKind',
  'correlationId',
  'eventId',
  'eventType',
  'occurredAt',
  'producer',
  'recordedAt',
  'streamId',
  'streamKind',
  'tenant',
  'unitId',
  'versionSetId',
] as const;

/** What the rules over entries rely on. */
function isLeaf(value: JsonValue | undefined): value is JsonObject & Leaf {
  if (!isJsonObject(value) || !isDigest(value['payloadCommitment'])) return false;
  if (TEXTS.some((name) => typeof value[name] !== 'string') || !Object.keys(value).every(isLeafMember)) return false;
  const { causationId, toolCallId, version, unitIndex, unitSize, schemaVersion, actor } = value;
  if (toolCallId !== undefined && typeof toolCallId !== 'string') return false;
  if (causationId !== null && typeof causationId !== 'string') return false;
  const counts = [version, unitIndex, unitSize, schemaVersion];
  if (!counts.every(isCount) || !isJsonObject(actor)) return false;
  return (version as number) >= 1 && (unitIndex as number) < (unitSize as number);
}
