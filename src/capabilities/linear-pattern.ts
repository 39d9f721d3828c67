import { RE2JS } from 're2js';

export const PATTERN_LENGTH_MAX = 512;

/** Instructions of the compiled pattern: what one character of text can cost at worst. */
const PROGRAM_SIZE_MAX = 1_000;

/**
 * Instructions times characters that one check of arguments may spend. At worst (an automaton too large to be built ahead) a
 * million steps take about 25 ms here; ordinary patterns on ordinary arguments need a few thousand.
 */
export const PATTERN_STEPS_MAX = 4_000_000;

export type PatternProblem = 'too_long' | 'not_ecmascript' | 'not_linear' | 'too_large';

/** A pattern matched in time linear in the text, whatever the text. The engine (RE2) has no backtracking. */
export interface LinearPattern {
  readonly programSize: number;
  /** True when the pattern matches somewhere in the text. */
  test(text: string): boolean;
}

/**
 * Compiles a `pattern` of JSON Schema. It must be a regular expression of ECMAScript with the flag `u` (ECMA-262 22.2.1), as JSON
 * Schema 2020-12 section 6.4 of its core recommends, *and* one of RE2: no look-around, no back-references, repeats up to 1,000. Where
 * both accept a text and differ, RE2 holds: `.` matches every character but U+000A, `\s` only ASCII white space, `$` only the very end.
 */
export function compileLinearPattern(source: string): LinearPattern | PatternProblem {
  const known = COMPILED.get(source)?.deref();
  if (known !== undefined) return known;
  const compiled = compiledAnew(source);
  if (typeof compiled !== 'string') COMPILED.set(source, new WeakRef(compiled));
  return compiled;
}

/**
 * A compiled pattern takes up to 100 KB and has no state of its own, and manifests repeat theirs (an account number, a currency): one
 * that is in use is shared.
 */
const COMPILED = new Map<string, WeakRef<LinearPattern>>();

function compiledAnew(source: string): LinearPattern | PatternProblem {
  if (source.length > PATTERN_LENGTH_MAX) return 'too_long';
  if (!isEcmaScriptPattern(source)) return 'not_ecmascript';
  const compiled = compileRe2(source);
  if (compiled === null) return 'not_linear';
  const programSize = compiled.programSize();
  if (programSize > PROGRAM_SIZE_MAX) return 'too_large';
  return { programSize, test: (text) => compiled.test(text) };
}

/** Compiling alone never runs the pattern, so this costs no more than its length. */
function isEcmaScriptPattern(source: string): boolean {
  try {
    return new RegExp(source, 'u').unicode;
  } catch {
    return false;
  }
}

function compileRe2(source: string): RE2JS | null {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source));
  } catch {
    return null;
  }
}

/**
 * True when the pattern can only match a whole text: it begins with `^`, ends with `$`, and no alternative outside groups escapes the
 * two. Expects a pattern that compiles.
 */
export function isAnchored(source: string): boolean {
  if (!source.startsWith('^') || !/(?:^|[^\\])(?:\\\\)*\$$/.test(source)) return false;
  let depth = 0;
  let inClass = false;
  for (let at = 0; at < source.length; at += 1) {
    const character = source[at];
    if (character === '\\') at += 1;
    else if (inClass) inClass = character !== ']';
    else if (character === '[') inClass = true;
    else if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === '|' && depth === 0) return false;
  }
  return true;
}
