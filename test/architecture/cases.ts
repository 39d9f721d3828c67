import type { Titles } from './test-titles.js';

/** Every kind of failure that has to be answered for. */
export const EXPECTED_CASES: readonly string[] = [
  ...'A01 A03 A04 A06 B01 B03 B05 B06 B08 C01 C02 C05 C06 C07 D01 D02 D03 D06 D07 D09 D10'.split(' '),
  ...'E01 E02 E03 E04 E05 E10 E11 E12 F01 F02 F03 F07 F08 H01 H02 H04'.split(' '),
  ...'I01 I02 I04 I05 I08 I09 I13 I14 I15 L01 L03 L05 L06 L09 N01 N03 N05 N07 N08 N10'.split(' '),
  ...'O01 O03 O05 P01 P04 R01 R03 R04 R06 R09 R10 R12 T01 T03 T04 T07 T09 T11 V01 V04 V05'.split(' '),
  ...'X37 K01 K03 K05 K07 K09 M01 M02 M05 M07'.split(' '),
  ...'Y01 Y03 Y04 Y05 Y07 Y08 Y10 Y11 Y12 Y14 Y16 Y17 Y18 Y20 Y21 Y23 Y24 Y25 Y27 Y28'.split(' '),
  ...'Y29 Y30 Y32 Y33 Y35 Y37 Y38 Y39 Y40 Y42 Y43 Y44 Y45 Y47 Y49 Y50 Y51 Y53'.split(' '),
  ...'G01 G02 G03 G04 G07 G09 Q01 Q03 Q05 Q06 Q09 Q11 Q12 W01 W02 X23 X24 X25 X26 X27'.split(' '),
  ...'J01 J02 J05 J06 J08 J09 J11 J13 J14'.split(' '),
  ...'X01 X02 X04 X05 X06 X07 X08 X10 X11 X15 X16 X17 X18 X21 X38 X39 X40 X41 X42 X43'.split(' '),
];

/** The number and the words of the issue whose work shows the kind. */
const ISSUE = /^\d+ · \S.{7,}/u;
const REASON_CHARACTERS_MIN = 20;
/** A title that is a placeholder alone says nothing. */
const NAMELESS = /^[%$]\w+$/u;

/** What is wrong with the list of cases, a line for each; empty when every kind is answered for by tests that run. */
export function caseProblems(cases: unknown, titles: Titles, expected = EXPECTED_CASES): string[] {
  if (!isRecord(cases)) return ['the list is no map'];
  const missing = expected.filter((id) => !Object.hasOwn(cases, id)).map((id) => `${id}: missing`);
  const found = Object.entries(cases).flatMap(([id, entry]) => {
    if (!expected.includes(id)) return [`${id}: nobody asked for it`];
    if (!isRecord(entry)) return [`${id}: no entry`];
    return entryProblems(entry, titles).map((problem) => `${id}: ${problem}`);
  });
  return [...missing, ...found];
}

function entryProblems(entry: Readonly<Record<string, unknown>>, titles: Titles): string[] {
  const { case: words, ...answer } = entry;
  const told = typeof words === 'string' && words.trim() !== '' ? [] : ['does not say what the case is'];
  const [kind, ...more] = Object.keys(answer);
  if (kind === undefined || more.length > 0) return [...told, 'needs exactly one of tests, elsewhere and impossible'];
  return [...told, ...answerProblems(kind, answer[kind], titles)];
}

function answerProblems(kind: string, answer: unknown, titles: Titles): string[] {
  if (kind === 'tests') {
    return Array.isArray(answer) && answer.length > 0
      ? answer.flatMap((title) => titleProblems(title, titles))
      : ['names no test'];
  }
  if (kind === 'elsewhere') {
    return typeof answer === 'string' && ISSUE.test(answer) ? [] : ['names no issue, as `4 · its words`'];
  }
  if (kind === 'impossible') {
    return typeof answer === 'string' && answer.trim().length >= REASON_CHARACTERS_MIN ? [] : ['gives no reason'];
  }
  return [`"${kind}" is no answer`];
}

function titleProblems(title: unknown, { running, held }: Titles): string[] {
  if (typeof title !== 'string') return ['a title is no text'];
  if (NAMELESS.test(title)) return [`"${title}" names nothing`];
  if (held.has(title)) return [`"${title}" is held back`];
  return running.has(title) ? [] : [`there is no test "${title}"`];
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
