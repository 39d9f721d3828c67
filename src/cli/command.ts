import type { Environment } from '../config/environment.js';
import { CountersignError } from '../domain/errors/countersign-error.js';

/** Where a subcommand reads from and writes to. Results go to `out`, words about them to `err`. */
export interface Terminal {
  readonly environment: Environment;
  out(text: string): void;
  err(text: string): void;
}

/** An option as its subcommand declares it; `value` is the word that stands for its value in the help. */
export type Option =
  | { readonly type: 'boolean'; readonly about: string }
  | { readonly type: 'string'; readonly value: string; readonly about: string };

/** What was given on the command line: only options that the subcommand declares, each once. */
export class Given {
  constructor(
    private readonly values: Readonly<Record<string, string | boolean | undefined>>,
    /** The words beside the options, as many as the subcommand declares. */
    readonly words: readonly string[] = [],
  ) {}

  /** The first word beside the options. Only for a subcommand that needs one. */
  operand(): string {
    const [word] = this.words;
    if (word === undefined) throw new Error('the subcommand declares no operand');
    return word;
  }

  flag(name: string): boolean {
    return this.values[name] === true;
  }

  text(name: string): string | null {
    const value = this.values[name];
    return typeof value === 'string' ? value : null;
  }

  /** @throws CountersignError `invalid_usage` without it */
  needed(name: string): string {
    const value = this.text(name);
    if (value === null || value === '') throw usage(`--${name} is needed`);
    return value;
  }

  /** `a,b` as a list; empty when the option is not there. */
  list(name: string): readonly string[] {
    return (this.text(name) ?? '').split(',').filter((item) => item !== '');
  }
}

export interface Subcommand {
  readonly summary: string;
  /** Further words for `--help`. */
  readonly details: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Words beside the options, exactly one where nothing else is said; `value` stands for them in the help. */
  readonly operand?: { readonly value: string; readonly least?: number; readonly most?: number };
  /** Answers the exit code. @throws CountersignError */
  run(given: Given, terminal: Terminal): Promise<number>;
}

export const usage = (message: string): CountersignError => new CountersignError('invalid_usage', message);

/** Exit codes, the same for every subcommand. */
export const EXIT = {
  /** Done; for a server: stopped as it was told to. */
  done: 0,
  /** Refused or failed; stderr has a stable code and says why. */
  failed: 1,
  /** The command line is wrong; nothing was done. */
  usage: 2,
  /** `migrate --check`: the schema is older than this program. */
  migrationNeeded: 3,
  /** Another process has taken over the data directory; this one has recorded nothing since. */
  takenOver: 4,
  /** The process met something that must not be and no longer knows its own state; whatever it had on the wire is settled by the next start. */
  crashed: 70,
} as const;

export const CONFIG_OPTION: Option = {
  type: 'string',
  value: 'FILE',
  about: 'settings file; wins over COUNTERSIGN_CONFIG',
};
