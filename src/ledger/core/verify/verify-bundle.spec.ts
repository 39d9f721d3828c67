import { describe, expect, it } from '@jest/globals';
import { ATTACKS } from '../../../../test/builders/evidence-attacks.js';
import { bundleOf, partsOf, span, TRUST, type BundleOptions } from '../../../../test/builders/evidence-bundle.js';
import { LOG, WITNESS } from '../../../../test/builders/evidence-keys.js';
import { AT, story } from '../../../../test/builders/evidence-story.js';
import { LeafNodes, rootAt } from '../tree/node-source.js';
import { leafOf } from '../../../../test/builders/evidence-story.js';
import { signCheckpoint } from '../notes/checkpoint.js';
import { FINDING_CODES, Findings } from './findings.js';
import type { Trust } from './trust.js';
import { verifyBundle, verifyParts, type BundleVerdict } from './verify-bundle.js';

const log = story();
const judged = (options: BundleOptions, trust: Partial<Trust> = {}): BundleVerdict =>
  verifyBundle(bundleOf(log, options), { ...TRUST, ...trust });
const statementsOf = ({ statements }: BundleVerdict): string[] => statements.map(({ code }) => code);
const keptAt = (size: number): string => {
  const root = rootAt(new LeafNodes(log.map(leafOf)), size);
  return signCheckpoint({ origin: LOG.key.name, size, root, extensions: [] }, [LOG]);
};

describe('an attack on evidence', () => {
  it.each(ATTACKS)(
    'is found out when $title [S01, S03, S04, S06, X29, X31, X32, X34, X35]',
    ({ bundle, trust, found }) => {
      const { findings } = verifyBundle(bundle(), trust ?? TRUST);
      expect(findings.map(({ code, position }) => [code, position])).toEqual(found);
    },
  );

  it('is known for everything that can be found', () => {
    const found = new Set(ATTACKS.flatMap((attack) => attack.found.map(([code]) => code)));
    expect(FINDING_CODES.filter((code) => !found.has(code))).toEqual([]);
  });

  it('names the event besides its position', () => {
    const attack = ATTACKS.find(({ title }) => title === 'one person votes twice');
    const { findings } = verifyBundle(attack?.bundle() ?? new Uint8Array(0), TRUST);
    expect(findings[0]).toMatchObject({ eventId: 'evt_0005', position: AT.secondVote, part: 'entries.ndjson' });
  });
});

describe('a good bundle', () => {
  it.each<[string, BundleOptions]>([
    ['of a whole log', {}],
    ['of all tenants', { tenant: null }],
    ['of nothing', { sizes: [0], positions: [] }],
    ['of a range', { scope: { kind: 'range', from: 4, to: 12 }, sizes: [5, 12, 17] }],
    [
      'of one call and what was committed with it',
      { scope: { kind: 'selection', of: 'toolCall call_2' }, positions: span(12, 17) },
    ],
    ['with payloads withheld', { withheld: [AT.proposed, AT.required, AT.firstVote, AT.dispatching] }],
    ['with many checkpoints', { sizes: [1, 2, 3, 4, 8, 11, 16, 17] }],
    ['with the same checkpoint twice', { sizes: [17, 17] }],
  ])('%s has no findings', (_, options) => {
    const log = options.sizes?.[0] === 0 ? [] : story();
    expect(verifyBundle(bundleOf(log, options), TRUST).findings).toEqual([]);
  });

  it('says plainly that truncation is not excluded, unless a witness or a kept checkpoint vouches [X29]', () => {
    const alone = judged({});
    expect(statementsOf(alone)).toContain('truncation_not_excluded');
    expect(alone.statements[0]?.message).toContain('cannot exclude truncation');
    const witnessed = judged({ witness: true }, { witnesses: [WITNESS.key] });
    expect([witnessed.findings, statementsOf(witnessed)]).toEqual([[], ['entries_hidden']]);
    for (const size of [0, 5, 17]) {
      const kept = judged({}, { kept: [keptAt(size)] });
      expect([kept.findings, statementsOf(kept)]).toEqual([[], ['entries_hidden']]);
    }
  });

  it('asks for as many witnesses as the verifier does', () => {
    expect(judged({ witness: true }, { witnesses: [WITNESS.key], witnessesMin: 2 }).findings).toMatchObject([
      { code: 'witness_missing' },
    ]);
    expect(judged({}, { witnesses: [WITNESS.key], witnessesMin: 0 }).findings).toEqual([]);
  });

  it('says what it does not show', () => {
    expect(statementsOf(judged({ withheld: [3] }))).toEqual([
      'truncation_not_excluded',
      'payloads_withheld',
      'entries_hidden',
    ]);
    const selection = judged({ scope: { kind: 'selection', of: 'toolCall call_2' }, positions: span(12, 17) });
    expect(statementsOf(selection)).toEqual(['truncation_not_excluded', 'selection_only']);
  });

  it('is judged alike by its parts, and tells what it is', () => {
    const verdict = verifyParts(partsOf(log), TRUST);
    expect(verdict.findings).toEqual([]);
    expect(verdict).toMatchObject({ entries: 17, findingsLeftOut: 0, manifest: { treeSize: 17, tenant: 'acme' } });
  });

  it('is never trusted for its own keys', () => {
    expect(judged({}, { log: [] }).findings.map(({ code }) => code)).toEqual([
      'manifest_unsigned',
      'checkpoint_unsigned',
    ]);
  });
});

describe('findings', () => {
  it('beyond a hundred of one code are counted', () => {
    const findings = new Findings();
    for (let n = 0; n < 130; n += 1) findings.add('stream_gap', 'gap', { position: n });
    findings.add('part_missing', 'part');
    expect([findings.list.length, findings.leftOut, findings.list.at(-1)?.code]).toEqual([101, 30, 'part_missing']);
  });
});
