import type { KeyStatement, KeyWindow } from '../bundle/bundle-format.js';
import { formatVerifierKey, type VerifierKey } from '../notes/verifier-key.js';
import type { Findings, Place } from './findings.js';

/** A key of the log that the verifier knows from somewhere else than the bundle. */
export interface TrustedKey {
  readonly key: VerifierKey;
  /** When it is trusted; always, where this is absent. What the bundle says about the key holds as well. */
  readonly window?: KeyWindow;
}

/** What the verifier brings along. */
export interface Trust {
  readonly log: readonly TrustedKey[];
  /** Keys of type `cosignature/v1`. */
  readonly witnesses: readonly VerifierKey[];
  /** Cosignatures that the last checkpoint must have; one where witnesses are given. */
  readonly witnessesMin?: number;
  /** Notes of checkpoints that were kept elsewhere: the log must still be a continuation of each. */
  readonly kept?: readonly string[];
}

/** A moment of a signature: of a checkpoint its size, of everything else its time. */
export type Moment = { readonly size: number } | { readonly time: string };

/** The windows of a key by the verifier and by the bundle. */
export class KeyBook {
  constructor(
    private readonly trust: Trust,
    private readonly statements: readonly KeyStatement[],
  ) {}

  logKeys(): readonly VerifierKey[] {
    return this.trust.log.map(({ key }) => key);
  }

  /** One of these keys was in use then. Findings when none was, or the bundle does not list it. */
  inUse(
    keys: readonly VerifierKey[],
    use: 'log' | 'witness',
    moment: Moment,
    findings: Findings,
    place: Place,
  ): boolean {
    const listed = keys.filter((key) => this.statementsOf(key, use).length > 0);
    if (listed.length === 0) {
      findings.add('key_unlisted', 'The bundle does not list the key that signed.', place);
      return false;
    }
    if (listed.some((key) => this.windowsOf(key, use).every((window) => isWithin(window, moment)))) return true;
    findings.add('key_out_of_window', 'The key was not in use when this was signed.', place);
    return false;
  }

  private windowsOf(key: VerifierKey, use: 'log' | 'witness'): readonly KeyWindow[] {
    const own = this.trust.log.find((trusted) => trusted.key === key)?.window;
    return [...this.statementsOf(key, use), ...(own === undefined ? [] : [own])];
  }

  private statementsOf(key: VerifierKey, use: 'log' | 'witness'): readonly KeyStatement[] {
    const text = formatVerifierKey(key);
    return this.statements.filter((statement) => statement.key === text && statement.use === use);
  }
}

function isWithin({ fromSize, toSize, fromTime, toTime }: KeyWindow, moment: Moment): boolean {
  if ('size' in moment) return moment.size >= fromSize && (toSize === null || moment.size <= toSize);
  return moment.time >= fromTime && (toTime === null || moment.time <= toTime);
}
