import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { verifyBundle } from '../../../src/ledger/core/verify/verify-bundle.js';
import { ATTACKS } from '../../builders/evidence-attacks.js';
import { bundleOf, TRUST } from '../../builders/evidence-bundle.js';
import { WITNESS } from '../../builders/evidence-keys.js';
import { story } from '../../builders/evidence-story.js';
import { hasPython, judgedElsewhere, type Job, type SecondVerdict } from './second-verifier.js';

const unless = hasPython ? '' : ' (SKIPPED: no python3 on this machine)';
const whenPython = hasPython ? it : it.skip;

const golden = readFileSync(new URL('../../vectors/ledger/story.zip', import.meta.url));

/** Bundles that are right, each with what a verifier brings along. */
const GOOD: readonly Job[] = [
  { bundle: golden, trust: TRUST },
  { bundle: bundleOf(story(), { tenant: null }), trust: TRUST },
  { bundle: bundleOf(story(), { scope: { kind: 'range', from: 4, to: 12 }, sizes: [5, 12, 17] }), trust: TRUST },
  { bundle: bundleOf(story(), { witness: true }), trust: { ...TRUST, witnesses: [WITNESS.key] } },
  { bundle: bundleOf(story(), { withheld: [1, 3, 9] }), trust: TRUST },
  { bundle: bundleOf([], { sizes: [0] }), trust: TRUST },
];

function ours({ bundle, trust }: Job): SecondVerdict {
  const { findings, statements } = verifyBundle(bundle, trust);
  const codes = statements.map(({ code }) => code).filter((code) => code === 'truncation_not_excluded');
  return {
    findings: findings.map(({ code, part, position, eventId }) => ({ code, part, position, eventId })),
    statements: codes,
  };
}

const sorted = ({ findings, statements }: SecondVerdict): object => ({
  findings: findings.map((finding) => JSON.stringify(finding)).sort(),
  statements,
});

describe('A verifier in another language', () => {
  whenPython(`finds in every attacked bundle what ours finds [X29, X31, X34, X35]${unless}`, () => {
    const jobs = ATTACKS.map(({ bundle, trust }) => ({ bundle: bundle(), trust: trust ?? TRUST }));
    const theirs = judgedElsewhere(jobs);
    const differences = jobs.flatMap((job, at) => {
      const [own, other] = [sorted(ours(job)), sorted(theirs[at] as SecondVerdict)];
      return JSON.stringify(own) === JSON.stringify(other) ? [] : [{ title: ATTACKS[at]?.title, own, other }];
    });
    expect(differences).toEqual([]);
  });

  whenPython(`finds nothing in the bundles in which ours finds nothing${unless}`, () => {
    const theirs = judgedElsewhere(GOOD);
    expect(GOOD.map(ours).map(({ findings }) => findings)).toEqual(GOOD.map(() => []));
    expect(theirs.map(sorted)).toEqual(GOOD.map(ours).map(sorted));
  });

  whenPython(`needs no package for its signatures${unless}`, () => {
    const jobs = GOOD.slice(0, 1).concat({
      bundle: bundleOf(story(), { origin: 'ledger.example/other' }),
      trust: TRUST,
    });
    expect(judgedElsewhere(jobs, '--plain').map(sorted)).toEqual(jobs.map(ours).map(sorted));
  });

  whenPython(`finds something in a bundle with a flipped byte, as ours does${unless}`, () => {
    const step = 997;
    const flipped = Array.from({ length: Math.floor(golden.length / step) }, (_, at) => {
      const bytes = Uint8Array.from(golden);
      bytes[at * step] = (bytes[at * step] as number) ^ (1 << (at % 8));
      return { bundle: bytes, trust: TRUST };
    });
    const theirs = judgedElsewhere(flipped);
    expect(theirs.filter(({ findings }) => findings.length === 0)).toEqual([]);
    expect(
      flipped.map((job) => verifyBundle(job.bundle, job.trust)).filter(({ findings }) => findings.length === 0),
    ).toEqual([]);
  });
});
