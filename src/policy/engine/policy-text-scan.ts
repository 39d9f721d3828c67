/**
 * Limits on policy text, kept before the engine sees it. Measured on cedar-wasm 4.13: 130 nested brackets or 400 terms joined by
 * `||`, `&&`, `+` or `else if` kill the engine's instance for good, 2,000 accesses `.a.a` as well. Each limit is a third of that or less.
 */
export const POLICY_LIMITS = {
  policyUnitsMax: 16_384,
  nestingMax: 32,
  /** `||`, `&&`, `+`, `-`, `*` and `if` in one policy, however they are nested. */
  operatorsMax: 128,
  /** `.` and `::` in one policy. */
  accessesMax: 512,
  policiesPerFileMax: 2_000,
} as const;

export interface ScanProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/**
 * What deepens the engine's trees, what must not be mistaken for it (texts, comments), and `;`, which ends a policy. A text that is
 * never closed goes on to the end, as for the engine, which then refuses the file before it builds anything.
 */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|\/\/[^\r\n]*|[()[\]{};.]|::|\|\||&&|[+*-]|\bif\b/gsu;

interface Counts {
  nesting: number;
  operators: number;
  accesses: number;
}

/**
 * Looks at the text without understanding it: counts what could exhaust the engine's stack, policy by policy. The answer names the
 * first excess of each policy. Text within the limits need not be Cedar at all.
 */
export function scanPolicyText(text: string): readonly ScanProblem[] {
  const problems: ScanProblem[] = [];
  let counts: Counts = { nesting: 0, operators: 0, accesses: 0 };
  let start = 0;
  let policies = 0;
  let told = false;
  const tell = (message: string | null, at: number): void => {
    if (message === null || told) return;
    problems.push({ line: lineOf(text, at), message });
    told = true;
  };
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token !== ';') {
      tell(excess(count(counts, token)), index);
      continue;
    }
    tell(sizeExcess(index - start), start);
    policies += 1;
    start = index + 1;
    counts = { nesting: 0, operators: 0, accesses: 0 };
    told = false;
  }
  tell(sizeExcess(text.length - start), start);
  if (policies > POLICY_LIMITS.policiesPerFileMax) {
    problems.push({ line: 1, message: `holds more than ${POLICY_LIMITS.policiesPerFileMax} policies` });
  }
  return problems;
}

function count(counts: Counts, token: string): Counts {
  if ('([{'.includes(token)) counts.nesting += 1;
  else if (')]}'.includes(token)) counts.nesting = Math.max(0, counts.nesting - 1);
  else if (token === '.' || token === '::') counts.accesses += 1;
  else if (!token.startsWith('"') && !token.startsWith('//')) counts.operators += 1;
  return counts;
}

function excess({ nesting, operators, accesses }: Counts): string | null {
  if (nesting > POLICY_LIMITS.nestingMax) return `nests brackets deeper than ${POLICY_LIMITS.nestingMax}`;
  if (operators > POLICY_LIMITS.operatorsMax) {
    return `joins more than ${POLICY_LIMITS.operatorsMax} terms in one policy; use a set and contains(), or more policies`;
  }
  if (accesses > POLICY_LIMITS.accessesMax)
    return `accesses more than ${POLICY_LIMITS.accessesMax} attributes in one policy`;
  return null;
}

function sizeExcess(units: number): string | null {
  return units > POLICY_LIMITS.policyUnitsMax
    ? `is a policy longer than ${POLICY_LIMITS.policyUnitsMax} characters`
    : null;
}

function lineOf(text: string, at: number): number {
  let line = 1;
  for (let next = text.indexOf('\n'); next !== -1 && next < at; next = text.indexOf('\n', next + 1)) line += 1;
  return line;
}
