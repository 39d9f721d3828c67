import { jsonDigest } from '../../src/domain/digests/digests.js';
import { canonicalBytes } from '../../src/domain/json/canonical-json.js';
import type { JsonObject } from '../../src/domain/json/json-value.js';
import { entryLine } from '../../src/ledger/core/bundle/entry-line.js';
import { writeContainer } from '../../src/ledger/core/bundle/container.js';
import { signCheckpoint } from '../../src/ledger/core/notes/checkpoint.js';
import { LeafNodes, rootAt } from '../../src/ledger/core/tree/node-source.js';
import type { FindingCode } from '../../src/ledger/core/verify/findings.js';
import type { Trust } from '../../src/ledger/core/verify/trust.js';
import {
  bundleOf,
  contentsOf,
  cosigned,
  partsOf,
  resigned,
  span,
  TRUST,
  type BundleOptions,
} from './evidence-bundle.js';
import { LOG, ORIGIN, STRANGER, testSigner, WITNESS } from './evidence-keys.js';
import { AT, leafOf, REFUND, SHOWN, story, storyUnits, tell, type LogEvent, type Told } from './evidence-story.js';

/** Something done to evidence, by somebody who may hold the log's key, and what a verifier must say. */
export interface Attack {
  readonly title: string;
  readonly bundle: () => Uint8Array;
  readonly trust?: Trust;
  /** Every finding: its code and the position of the entry it names. */
  readonly found: readonly (readonly [FindingCode, number | null])[];
}

const honest = story();
const source = new LeafNodes(honest.map(leafOf));
const checkpointAt = (size: number, signer = LOG, origin = ORIGIN): string =>
  signCheckpoint({ origin, size, root: rootAt(source, size), extensions: [] }, [signer]);
const kept = (size: number): Trust => ({ ...TRUST, kept: [checkpointAt(size)] });

/** The log with one event changed. */
const altered = (position: number, change: (event: LogEvent) => LogEvent): LogEvent[] =>
  story().map((event, at) => (at === position ? change(event) : event));
const withPayload = (position: number, change: JsonObject): LogEvent[] =>
  altered(position, (event) => ({ ...event, payload: { ...event.payload, ...change } }));
const withEnvelope = (position: number, change: object): LogEvent[] =>
  altered(position, (event) => ({ ...event, envelope: { ...event.envelope, ...change } }));

/** Entries of one log under the checkpoints and proofs of another: what editing rows in a database comes to. */
const underOldCheckpoint = (log: readonly LogEvent[], options: BundleOptions = {}): Uint8Array => {
  const { checkpoints } = contentsOf(story(), options);
  return bundleOf(log, { ...options, contents: (contents) => ({ ...contents, checkpoints }) });
};

/** The honest bundle with other lines, signed by whoever made it. */
const withLines = (change: (lines: string[]) => string[] | Uint8Array): Uint8Array =>
  resigned(partsOf(honest), (parts) => {
    const lines = Buffer.from(parts.get('entries.ndjson') ?? [])
      .toString('utf8')
      .trimEnd()
      .split('\n');
    const changed = change(lines);
    const bytes = Array.isArray(changed) ? Buffer.from(`${changed.join('\n')}\n`, 'utf8') : changed;
    parts.set('entries.ndjson', bytes);
    return undefined;
  });

const line = (lines: readonly string[], at: number): string => lines[at] as string;
const lineEdit = (at: number, from: string, to: string): Uint8Array =>
  withLines((lines) => lines.map((text, index) => (index === at ? text.replace(from, () => to) : text)));

/** The story with another unit in the place of one. */
const retold = (unit: number, change: (told: Told[]) => Told[]): Uint8Array =>
  bundleOf(tell(storyUnits().map((told, at) => (at === unit ? change(told) : told))));
const payloadIn = (told: Told | undefined, change: JsonObject): Told => {
  if (told === undefined) throw new Error('no such event in the unit');
  return { ...told, payload: { ...told.payload, ...change } };
};

const patched = (at: number, byte: number): Uint8Array => {
  const bytes = Uint8Array.from(bundleOf(honest));
  bytes[at] = byte;
  return bytes;
};

const ROWS: readonly Attack[] = [
  {
    title: 'the last rows are deleted',
    bundle: () => bundleOf(honest.slice(0, 12)),
    trust: kept(17),
    found: [['kept_checkpoint_ahead', null]],
  },
  {
    title: 'all rows are deleted',
    bundle: () => bundleOf([], { sizes: [0] }),
    trust: kept(17),
    found: [['kept_checkpoint_ahead', null]],
  },
  {
    title: 'a backup is restored and other things happen after it',
    bundle: () => bundleOf([...honest.slice(0, 12), ...tell(storyUnits()).slice(12).map(elsewhere)]),
    trust: kept(17),
    found: [['kept_checkpoint_differs', null]],
  },
  {
    title: 'the same, and the kept checkpoint is of a size between',
    bundle: () => bundleOf([...honest.slice(0, 12), ...tell(storyUnits()).slice(12).map(elsewhere)]),
    trust: kept(13),
    found: [['kept_checkpoint_differs', null]],
  },
  {
    title: 'rows in the middle are deleted',
    bundle: () => underOldCheckpoint(honest, { positions: [...span(0, 4), ...span(5, 17)] }),
    found: [
      ['position_missing', 4],
      ['stream_gap', 5],
      ['grant_without_quorum', 6],
    ],
  },
  {
    title: 'an approval and everything about it is deleted after it expired',
    bundle: () =>
      bundleOf(honest, { positions: span(0, 17).filter((at) => honest[at]?.envelope.streamKind !== 'approval') }),
    found: [
      ['position_missing', 3],
      ['unit_incomplete', 0],
      ['unit_incomplete', 7],
      ['position_missing', 8],
      ['unit_incomplete', 9],
      ['dispatch_without_approval', 9],
    ],
  },
  {
    title: 'two rows are swapped',
    bundle: () => underOldCheckpoint(swapped(12, 13)),
    found: [
      ['stream_gap', 12],
      ['stream_gap', 13],
      ['unit_mixed', 13],
      ['stream_gap', 14],
      ['unit_mixed', 14],
      ['unit_mixed', 15],
      ['root_differs', 0],
    ],
  },
  {
    title: 'the first row is forged',
    bundle: () => underOldCheckpoint(withPayload(0, { implicit: false }), { sizes: [1, 17] }),
    found: [['root_differs', 0]],
  },
  {
    title: 'the first row is forged and everything is signed again',
    bundle: () => bundleOf(withPayload(0, { implicit: false })),
    trust: kept(1),
    found: [['kept_checkpoint_differs', null]],
  },
  {
    title: 'a payload is changed where it stands',
    bundle: () => lineEdit(AT.proposed, '"amountMinor":500', '"amountMinor":501'),
    found: [
      ['payload_differs', AT.proposed],
      ['arguments_differ', AT.proposed],
      ['shown_differs', AT.required],
    ],
  },
  {
    title: 'a leaf is changed where it stands',
    bundle: () => lineEdit(AT.dispatching, '"tenant":"acme"', '"tenant":"umbra"'),
    found: [
      ['leaf_differs', AT.dispatching],
      ['tenant_differs', AT.dispatching],
      ['root_differs', 0],
    ],
  },
  {
    title: 'a leaf is changed between two checkpoints, and its hash with it',
    bundle: () =>
      underOldCheckpoint(withEnvelope(13, { recordedAt: '2031-01-01T00:00:00.124Z' }), { sizes: [4, 11, 12, 17] }),
    found: [
      ['checkpoints_inconsistent', null],
      ['root_differs', 12],
    ],
  },
  {
    title: 'two appends took the same place in a stream',
    bundle: () => bundleOf(withEnvelope(AT.secondVote, { version: 2 })),
    found: [
      ['stream_gap', AT.secondVote],
      ['stream_gap', AT.granted],
    ],
  },
  {
    title: 'two entries claim one position',
    bundle: () => withLines((lines) => [...lines.slice(0, 5), line(lines, 4), ...lines.slice(5)]),
    found: [['position_repeated', 4]],
  },
  {
    title: 'an entry stands at the wrong place',
    bundle: () => withLines((lines) => [...lines.slice(0, 15), line(lines, 2), ...lines.slice(15)]),
    found: [['position_out_of_order', 2]],
  },
  {
    title: 'the bundle holds an entry beyond its range',
    bundle: () => bundleOf(honest, { scope: { kind: 'range', from: 0, to: 12 }, positions: span(0, 16) }),
    found: [
      ['position_out_of_scope', 12],
      ['position_out_of_scope', 13],
      ['position_out_of_scope', 14],
      ['position_out_of_scope', 15],
      ['proof_malformed', null],
    ],
  },
  {
    title: 'a unit is cut at the end of a range',
    bundle: () => bundleOf(honest, { scope: { kind: 'range', from: 12, to: 15 } }),
    found: [['unit_incomplete', 12]],
  },
  {
    title: 'an event is recorded twice',
    bundle: () => bundleOf(withEnvelope(AT.second, { eventId: 'evt_0000' })),
    found: [['event_repeated', AT.second]],
  },
  {
    title: 'a cause stands behind its effect',
    bundle: () => bundleOf(withEnvelope(AT.firstVote, { causationId: 'evt_0016' })),
    found: [['cause_not_before', AT.firstVote]],
  },
  {
    title: 'a cause is nowhere',
    bundle: () => bundleOf(withEnvelope(AT.firstVote, { causationId: 'evt_none' }), { tenant: null }),
    found: [['cause_unknown', AT.firstVote]],
  },
  {
    title: 'another tenant’s entry is shown',
    bundle: () =>
      bundleOf(honest, {
        tenant: null,
        contents: (contents) => ({ ...contents, tenant: 'acme' }),
      }),
    found: [['tenant_differs', AT.other]],
  },
];

/** The event as it would be had it happened at another time. */
function elsewhere(event: LogEvent): LogEvent {
  return { ...event, envelope: { ...event.envelope, recordedAt: '2031-02-01T00:00:00.000Z' } };
}

function swapped(left: number, right: number): LogEvent[] {
  const log = story();
  return log.map((event, at) => (at === left ? log[right] : at === right ? log[left] : event) as LogEvent);
}

const TREE: readonly Attack[] = [
  {
    title: 'nodes are presented as leaves of a smaller tree',
    bundle: () => {
      const nodes = span(0, 8).map((index) => source.node(1, index));
      return bundleOf(honest, {
        sizes: [16],
        contents: (contents) => ({
          ...contents,
          treeSize: 8,
          scope: { kind: 'range', from: 0, to: 8 },
          entries: Buffer.from(
            nodes.map((leafHash, position) => entryLine({ kind: 'hidden', position, leafHash })).join(''),
          ),
          objects: [],
        }),
      });
    },
    found: [['tree_size_differs', null]],
  },
  {
    title: 'the last leaf of an odd tree is doubled',
    bundle: () =>
      resigned(partsOf(honest), (parts, manifest) => {
        const lines = Buffer.from(parts.get('entries.ndjson') ?? []).toString('utf8');
        const double = entryLine({ kind: 'hidden', position: 17, leafHash: leafOf(honest[16] as LogEvent) });
        parts.set('entries.ndjson', Buffer.from(lines + double));
        const root = rootAt(source, 17);
        const note = signCheckpoint({ origin: ORIGIN, size: 18, root, extensions: [] }, [LOG]);
        parts.set('checkpoints/000001.txt', Buffer.from(note));
        return { ...manifest, treeSize: 18, scope: { kind: 'range', from: 0, to: 18 } };
      }),
    found: [['root_differs', 0]],
  },
  {
    title: 'a hash of the proof is left out',
    bundle: () =>
      bundleOf(honest, {
        scope: { kind: 'range', from: 12, to: 17 },
        contents: (contents) => ({ ...contents, proof: contents.proof.slice(1) }),
      }),
    found: [['proof_malformed', null]],
  },
  {
    title: 'a hash of the proof is another one',
    bundle: () =>
      bundleOf(honest, {
        scope: { kind: 'range', from: 12, to: 17 },
        contents: (contents) => ({ ...contents, proof: [leafOf(honest[0] as LogEvent), ...contents.proof.slice(1)] }),
      }),
    found: [['root_differs', null]],
  },
  {
    title: 'the log gets smaller',
    bundle: () => bundleOf(honest, { sizes: [17, 12, 17] }),
    found: [['checkpoint_size_down', null]],
  },
  {
    title: 'the proof that one checkpoint continues another is missing',
    bundle: () =>
      bundleOf(honest, {
        scope: { kind: 'range', from: 12, to: 17 },
        sizes: [12, 17],
        contents: (contents) => ({ ...contents, consistency: [] }),
      }),
    found: [['consistency_missing', null]],
  },
  {
    title: 'one checkpoint is of another history',
    bundle: () =>
      bundleOf(honest, {
        sizes: [12, 17],
        scope: { kind: 'range', from: 12, to: 17 },
        contents: (contents) => ({
          ...contents,
          checkpoints: [
            signCheckpoint({ origin: ORIGIN, size: 12, root: leafOf(honest[0] as LogEvent), extensions: [] }, [LOG]),
            checkpointAt(17),
          ],
        }),
      }),
    found: [['checkpoints_inconsistent', null]],
  },
  {
    title: 'the bundle does not prove that it continues a kept checkpoint',
    bundle: () => bundleOf(honest, { scope: { kind: 'range', from: 12, to: 17 } }),
    trust: kept(5),
    found: [['kept_checkpoint_unproven', null]],
  },
  {
    title: 'what was kept is no checkpoint of the log',
    bundle: () => bundleOf(honest),
    trust: { ...TRUST, kept: [checkpointAt(5, STRANGER)] },
    found: [['kept_checkpoint_unusable', null]],
  },
];

const KEYS: readonly Attack[] = [
  {
    title: 'the bundle is signed by a stranger of the same name',
    bundle: () => bundleOf(honest, { signer: STRANGER }),
    found: [
      ['manifest_unsigned', null],
      ['checkpoint_unsigned', null],
    ],
  },
  {
    title: 'the checkpoint is of another log with the same key',
    bundle: () => {
      const other = testSigner('ledger.example/other', 1);
      return bundleOf(honest, {
        contents: (contents) => ({ ...contents, checkpoints: [checkpointAt(17, other, 'ledger.example/other')] }),
      });
    },
    found: [['origin_differs', null]],
  },
  {
    title: 'the whole bundle says that it is of another log',
    bundle: () => bundleOf(honest, { origin: 'ledger.example/other' }),
    found: [
      ['manifest_unsigned', null],
      ['checkpoint_unsigned', null],
    ],
  },
  {
    title: 'the key was retired before the checkpoint',
    bundle: () =>
      bundleOf(honest, {
        contents: (contents) => ({ ...contents, keys: contents.keys.map((key) => ({ ...key, toSize: 16 })) }),
      }),
    found: [['key_out_of_window', null]],
  },
  {
    title: 'the key was retired before the manifest, by what the verifier knows',
    bundle: () => bundleOf(honest),
    trust: {
      ...TRUST,
      log: [
        {
          key: LOG.key,
          window: {
            fromSize: 0,
            toSize: null,
            fromTime: '2030-01-01T00:00:00.000Z',
            toTime: '2031-01-01T00:00:00.000Z',
          },
        },
      ],
    },
    found: [['key_out_of_window', null]],
  },
  {
    title: 'the bundle does not list the key that signed it',
    bundle: () => bundleOf(honest, { contents: (contents) => ({ ...contents, keys: [] }) }),
    found: [
      ['key_unlisted', null],
      ['key_unlisted', null],
    ],
  },
  {
    title: 'no witness cosigned',
    bundle: () => bundleOf(honest),
    trust: { ...TRUST, witnesses: [WITNESS.key] },
    found: [['witness_missing', null]],
  },
  {
    title: 'a cosignature is of another checkpoint',
    bundle: () =>
      bundleOf(honest, {
        contents: (contents) => ({
          ...contents,
          checkpoints: [checkpointAt(17) + (cosigned(checkpointAt(12)).split('\n').at(-2) ?? '') + '\n'],
        }),
      }),
    trust: { ...TRUST, witnesses: [WITNESS.key] },
    found: [
      ['witness_invalid', null],
      ['witness_missing', null],
    ],
  },
  {
    title: 'the manifest is changed without its signature',
    bundle: () => {
      const parts = partsOf(honest);
      const text = Buffer.from(parts.get('manifest.json') ?? []).toString('utf8');
      parts.set('manifest.json', Buffer.from(text.replace('2031-01-02', '2031-01-03')));
      return writeContainer(parts);
    },
    found: [['manifest_unsigned', null]],
  },
];

const PARTS_AND_TEXTS: readonly Attack[] = [
  {
    title: 'a part nobody knows is added',
    bundle: () => writeContainer(new Map([...partsOf(honest), ['extra.txt', Buffer.from('hello\n')]])),
    found: [['part_unknown', null]],
  },
  {
    title: 'a part nobody knows is added and signed for',
    bundle: () => resigned(partsOf(honest), (parts) => void parts.set('extra.txt', Buffer.from('hello\n'))),
    found: [['part_unknown', null]],
  },
  {
    title: 'a part is left out',
    bundle: () => {
      const parts = partsOf(honest);
      parts.delete('consistency.json');
      return writeContainer(parts);
    },
    found: [
      ['part_missing', null],
      ['part_missing', null],
    ],
  },
  {
    title: 'the report is exchanged',
    bundle: () => writeContainer(new Map([...partsOf(honest), ['report.html', Buffer.from('<p>all is well\n')]])),
    found: [['part_changed', null]],
  },
  {
    title: 'a checkpoint between is left out',
    bundle: () =>
      resigned(partsOf(honest, { sizes: [4, 12, 17] }), (parts) => void parts.delete('checkpoints/000002.txt')),
    found: [['part_missing', null]],
  },
  {
    title: 'the report holds a terminal escape',
    bundle: () => bundleOf(honest, { contents: (contents) => ({ ...contents, report: 'ok\n\u001b[2K all good\n' }) }),
    found: [['text_unsafe', null]],
  },
  {
    title: 'the report holds a carriage return',
    bundle: () => bundleOf(honest, { contents: (contents) => ({ ...contents, report: 'denied\rallowed\n' }) }),
    found: [['text_unsafe', null]],
  },
  {
    title: 'the instructions turn the direction of their text',
    bundle: () => bundleOf(honest, { contents: (contents) => ({ ...contents, readme: 'run \u202etxt.sh\n' }) }),
    found: [['text_unsafe', null]],
  },
  {
    title: 'a checkpoint has a carriage return',
    bundle: () =>
      bundleOf(honest, {
        contents: (contents) => ({
          ...contents,
          checkpoints: contents.checkpoints.map((note) => note.replace('\n', '\r\n')),
        }),
      }),
    found: [['part_malformed', null]],
  },
  {
    title: 'the policy set of a decision is missing',
    bundle: () => bundleOf(honest, { contents: (contents) => ({ ...contents, objects: contents.objects.slice(1) }) }),
    found: [['policy_set_missing', AT.decided]],
  },
  {
    title: 'the schema of a decision is missing',
    bundle: () =>
      bundleOf(honest, {
        contents: (contents) => ({ ...contents, objects: contents.objects.filter((_, at) => at !== 1) }),
      }),
    found: [['policy_schema_missing', AT.decided]],
  },
  {
    title: 'what an approver saw is missing',
    bundle: () =>
      bundleOf(honest, { contents: (contents) => ({ ...contents, objects: contents.objects.slice(0, 2) }) }),
    found: [['object_missing', AT.required]],
  },
  {
    title: 'an object is not what its name says',
    bundle: () =>
      resigned(partsOf(honest), (parts) => {
        parts.set(`objects/${jsonDigest(SHOWN).slice(7)}.json`, canonicalBytes({ title: 'Harmless' }));
        return undefined;
      }),
    found: [['object_differs', null]],
  },
  {
    title: 'an object is there that nothing refers to',
    bundle: () =>
      bundleOf(honest, {
        contents: (contents) => ({ ...contents, objects: [...contents.objects, canonicalBytes([1])] }),
      }),
    found: [['object_unreferenced', null]],
  },
  {
    title: 'a byte follows the container',
    bundle: () => Uint8Array.of(...bundleOf(honest), 0),
    found: [['container_unreadable', null]],
  },
  {
    title: 'a date in the container is another',
    bundle: () => patched(12, 0x22),
    found: [['container_not_canonical', null]],
  },
  {
    title: 'the container is cut',
    bundle: () => bundleOf(honest).subarray(0, 2_000),
    found: [['container_unreadable', null]],
  },
];

/** What an entry that cannot be read makes be missed besides. */
const FOLLOWING: Readonly<Record<number, Attack['found']>> = {
  0: [['unit_incomplete', 1]],
  4: [
    ['stream_gap', 5],
    ['grant_without_quorum', 6],
  ],
  8: [
    ['unit_incomplete', 9],
    ['dispatch_without_approval', 9],
  ],
};

const LINES: readonly Attack[] = (
  [
    ['a line has a space', (lines: string[]) => edit(lines, 4, '":"', '": "'), 4],
    ['a member stands twice', (lines: string[]) => edit(lines, 4, '"payload":{', '"payload":{"by":{},'), 4],
    [
      'a member is out of order',
      (lines: string[]) => edit(lines, 0, /^\{(.*),("position":0),(.*)\}$/, '{$1,$3,$2}'),
      0,
    ],
    ['a number is written as 1.0', (lines: string[]) => edit(lines, 8, '"attempt":1', '"attempt":1.0'), 8],
    ['a number is minus zero', (lines: string[]) => edit(lines, 8, '"attempt":1', '"attempt":-0'), 8],
    ['a number is 1e21', (lines: string[]) => edit(lines, 8, '"attempt":1', '"attempt":1e+21'), 8],
    [
      'a number is beyond what is exact',
      (lines: string[]) => edit(lines, 8, '"attempt":1', '"attempt":9007199254740993'),
      8,
    ],
    ['a number is 2 to the 53rd', (lines: string[]) => edit(lines, 8, '"attempt":1', '"attempt":9007199254740992'), 8],
    ['a text has half a surrogate pair', (lines: string[]) => edit(lines, 4, '"ann"', '"\\ud800"'), 4],
    ['a text has a reversed surrogate pair', (lines: string[]) => edit(lines, 4, '"ann"', '"\\udf89\\ud83c"'), 4],
    ['a text is escaped for no reason', (lines: string[]) => edit(lines, 4, '"ann"', '"\\u0061nn"'), 4],
    ['a leaf has a member that no leaf has', (lines: string[]) => edit(lines, 4, '"leaf":{', '"leaf":{"aaa":1,'), 4],
    ['a leaf lacks its event id', (lines: string[]) => edit(lines, 4, /"eventId":"[^"]*",/, ''), 4],
    [
      'a payload is nested without end',
      (lines: string[]) => edit(lines, 8, '"attempt":1', `"attempt":${'['.repeat(20_000)}${']'.repeat(20_000)}`),
      8,
    ],
    [
      'a reason for withholding is made up',
      (lines: string[]) => edit(lines, 16, /,"payload":.*$/, ',"position":16,"withheld":"because"}'),
      16,
    ],
  ] as const
).map(([title, change, position]) => ({
  title,
  bundle: () => withLines(change),
  found: [['entry_malformed', position], ...(FOLLOWING[position] ?? [])],
}));

function edit(lines: readonly string[], at: number, from: string | RegExp, to: string): string[] {
  return lines.map((text, index) => (index === at ? text.replace(from, to) : text));
}

const DAMAGE: readonly Attack[] = [
  {
    title: 'a prototype key is put into a payload',
    bundle: () => lineEdit(4, '"payload":{', '"payload":{"__proto__":{},'),
    found: [['payload_differs', 4]],
  },
  {
    title: 'two lines are joined',
    bundle: () => withLines((lines) => [lines.slice(0, 2).join(''), ...lines.slice(2)]),
    found: [
      ['entry_malformed', 0],
      ['position_missing', 1],
      ['stream_gap', 2],
      ['unit_incomplete', 2],
    ],
  },
  {
    title: 'a line is empty',
    bundle: () => withLines((lines) => [...lines.slice(0, 4), '', ...lines.slice(4)]),
    found: [['entry_malformed', 4]],
  },
  {
    title: 'the last line has no end',
    bundle: () => withLines((lines) => Buffer.from(lines.join('\n'))),
    found: [['entry_malformed', 16]],
  },
  {
    title: 'a line is not UTF-8',
    bundle: () =>
      withLines((lines) => {
        const bytes = Buffer.from(`${lines.join('\n')}\n`);
        bytes[bytes.length - 40] = 0xff;
        return bytes;
      }),
    found: [['entry_malformed', 16]],
  },
  {
    title: 'an object says how it is turned into text',
    bundle: () => lineEdit(8, '"attempt":1', '"attempt":{"toString":1,"valueOf":1}'),
    found: [['payload_differs', 8]],
  },
];

const PEOPLE: readonly Attack[] = [
  {
    title: 'one person votes twice',
    bundle: () => retold(2, ([vote, ...more]) => [payloadIn(vote, { by: { sub: 'ann' } }), ...more]),
    found: [
      ['vote_repeated', AT.secondVote],
      ['grant_without_quorum', AT.granted],
    ],
  },
  {
    title: 'the requester is one of those who allow',
    bundle: () => retold(2, ([vote, ...more]) => [payloadIn(vote, { by: { sub: 'mia' } }), ...more]),
    found: [['grant_without_quorum', AT.granted]],
  },
  {
    title: 'a vote is for another group',
    bundle: () => retold(2, ([vote, ...more]) => [payloadIn(vote, { groups: ['sales'] }), ...more]),
    found: [['grant_without_quorum', AT.granted]],
  },
  {
    title: 'a refusal counts as consent',
    bundle: () => retold(2, ([vote, ...more]) => [payloadIn(vote, { decision: 'deny' }), ...more]),
    found: [['grant_without_quorum', AT.granted]],
  },
  {
    title: 'a vote comes after the grant it stands behind',
    bundle: () => retold(2, ([vote, grant, auth]) => [grant, vote, auth] as Told[]),
    found: [
      ['grant_without_quorum', AT.secondVote],
      ['vote_after_grant', AT.granted],
    ],
  },
  {
    title: 'a vote is about something else',
    bundle: () => retold(2, ([vote, ...more]) => [payloadIn(vote, { consentDigest: jsonDigest('x') }), ...more]),
    found: [['vote_consent_differs', AT.secondVote]],
  },
  {
    title: 'an approval is granted twice',
    bundle: () => retold(2, ([vote, grant, auth]) => [vote, grant, auth, grant] as Told[]),
    found: [['grant_repeated', 8]],
  },
  {
    title: 'an approval is used twice',
    bundle: () => retold(3, ([used, sent]) => [used, used, sent] as Told[]),
    found: [['consumed_twice', 9]],
  },
  {
    title: 'an approval is used after it was invalidated',
    bundle: () =>
      retold(
        3,
        ([used, sent]) =>
          [{ ...used, type: 'approval.invalidated', payload: { reason: 'policy_changed' } }, used, sent] as Told[],
      ),
    found: [['consumed_without_grant', 9]],
  },
  {
    title: 'something is sent without its approval being used',
    bundle: () => retold(3, ([, sent]) => [sent] as Told[]),
    found: [['dispatch_without_approval', 8]],
  },
  {
    title: 'something is sent that nothing authorized',
    bundle: () => retold(6, ([proposed, decided, , sent]) => [proposed, decided, sent] as Told[]),
    found: [['dispatch_without_authorization', 14]],
  },
  {
    title: 'one attempt is sent twice',
    bundle: () => retold(3, ([used, sent]) => [used, sent, sent] as Told[]),
    found: [['dispatched_twice', 10]],
  },
  {
    title: 'it is sent to somewhere else than people consented to',
    bundle: () =>
      retold(3, ([used, sent]) => [used, payloadIn(sent, { target: { url: 'https://evil.example' } })] as Told[]),
    found: [['consent_differs', AT.dispatching]],
  },
  {
    title: 'people were asked about another action',
    bundle: () => retold(0, (unit) => [...unit.slice(0, 3), payloadIn(unit[3], { argsDigest: jsonDigest({}) })]),
    found: [
      ['consent_differs', AT.required],
      ['consent_differs', AT.dispatching],
    ],
  },
  {
    title: 'people were shown other arguments',
    bundle: () => {
      const shown = { ...SHOWN, arguments: { ...REFUND, amountMinor: 5 } };
      const log = tell(
        storyUnits().map((unit, at) =>
          at === 0 ? [...unit.slice(0, 3), payloadIn(unit[3], { shown, shownDigest: jsonDigest(shown) })] : unit,
        ),
      );
      return bundleOf(log, {
        contents: (contents) => ({ ...contents, objects: [...contents.objects.slice(0, 2), canonicalBytes(shown)] }),
      });
    },
    found: [['shown_differs', AT.required]],
  },
  {
    title: 'what people were shown has another digest',
    bundle: () =>
      retold(0, (unit) => [...unit.slice(0, 3), payloadIn(unit[3], { shown: { ...SHOWN, title: 'Nothing' } })]),
    found: [['shown_differs', AT.required]],
  },
  {
    title: 'the arguments have another digest',
    bundle: () => retold(6, ([proposed, ...more]) => [payloadIn(proposed, { arguments: { orderId: 'o-2' } }), ...more]),
    found: [['arguments_differ', AT.second]],
  },
];

export const ATTACKS: readonly Attack[] = [
  ...ROWS,
  ...TREE,
  ...KEYS,
  ...PARTS_AND_TEXTS,
  ...LINES,
  ...DAMAGE,
  ...PEOPLE,
];
