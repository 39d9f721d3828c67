import type { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { createScrubber, type Scrubber } from '../proxy/core/scrub.js';
import { resolveSecret } from './secret-reference.js';

/** A header with a secret value. It prints as its reference, and only the door out reads the value. */
export class CredentialHeader {
  readonly #value: string;

  constructor(
    readonly name: string,
    readonly reference: string,
    value: string,
  ) {
    this.#value = value;
  }

  /** The header for the transport. Whoever calls this writes it to a socket and nowhere else. */
  reveal(): Readonly<Record<string, string>> {
    return { [this.name]: this.#value };
  }

  toString(): string {
    return `[secret:${this.reference}]`;
  }

  toJSON(): string {
    return this.toString();
  }
}

/**
 * The upstream credentials of the settings, resolved once at boot (`env:NAME` or `file:PATH`). Other parts name a
 * credential and hand it to the transport; they never see the value.
 */
export class Credentials {
  private readonly headers = new Map<string, CredentialHeader>();
  /** Replaces every form of every secret in a text that came from outside. */
  readonly scrub: Scrubber;
  readonly #secrets: readonly string[];

  constructor(settings: Pick<Settings, 'credentials'> & Partial<Pick<Settings, 'callbacks'>>) {
    const problems: string[] = [];
    // What callbacks are signed with is never sent, but a tool knows it too and might repeat it.
    const secrets = Object.values(settings.callbacks?.secrets ?? {}).flatMap(({ secret, previousSecret }) =>
      [secret, previousSecret].flatMap((reference) => (reference === null ? [] : (resolveSecret(reference) ?? []))),
    );
    for (const [name, credential] of Object.entries(settings.credentials)) {
      const secret = resolveSecret(credential.secret);
      if (secret === null) {
        problems.push(`credentials.${name}.secret: ${credential.secret} has no value`);
        continue;
      }
      secrets.push(secret);
      const value = credential.scheme === null ? secret : `${credential.scheme} ${secret}`;
      this.headers.set(name, new CredentialHeader(credential.header, credential.secret, value));
    }
    if (problems.length > 0) {
      throw new CountersignError('invalid_settings', `settings are not usable:\n  ${problems.join('\n  ')}`, {
        problems,
      });
    }
    this.#secrets = secrets;
    this.scrub = createScrubber(secrets);
  }

  /** The same for one call, whose redacted arguments are secrets too. */
  scrubWith(more: readonly string[]): Scrubber {
    return createScrubber([...this.#secrets, ...more]);
  }

  has(name: string): boolean {
    return this.headers.has(name);
  }

  /** @throws Error when the name is unknown: manifests are checked against the settings at boot. */
  header(name: string): CredentialHeader {
    const header = this.headers.get(name);
    if (header === undefined) throw new Error(`credential ${name} is not configured`);
    return header;
  }
}
