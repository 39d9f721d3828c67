import type { CredentialSettings, Settings, StaticCredentialSettings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { isAllowEntryValid } from '../egress/address-policy.js';
import type { Scrubber } from '../proxy/core/scrub.js';
import { CredentialHeader } from './credential-header.js';
import { KnownSecrets } from './known-secrets.js';
import { SecretSource } from './secret-reference.js';

type CredentialsSettings = Pick<Settings, 'credentials'> & Partial<Pick<Settings, 'callbacks'>>;

/**
 * The upstream credentials of the settings: secrets, resolved at boot and after each change of the store of secrets, and tokens that
 * were fetched for a time. Other parts name a credential and hand it to the transport; they never see the value.
 */
export class Credentials {
  private readonly headers = new Map<string, CredentialHeader>();
  private readonly known = new KnownSecrets();

  /** @throws CountersignError `invalid_settings` with everything that has no value */
  constructor(
    private readonly settings: CredentialsSettings,
    private readonly source: SecretSource = new SecretSource(),
  ) {
    const problems = [...this.settle(), ...this.fetchedProblems()];
    if (problems.length > 0) {
      throw new CountersignError('invalid_settings', `settings are not usable:\n  ${problems.join('\n  ')}`, {
        problems,
      });
    }
    source.onChange(() => void this.settle());
  }

  /** Replaces every form of every secret in a text that came from outside. */
  get scrub(): Scrubber {
    return this.known.scrub;
  }

  /** The same for one call, whose redacted arguments are secrets too. */
  scrubWith(more: readonly string[]): Scrubber {
    return this.known.scrubWith(more);
  }

  /** True for a credential of the settings, whether or not it has a value now. */
  has(name: string): boolean {
    return Object.hasOwn(this.settings.credentials, name);
  }

  /** Null while it has no value: a token that is not fetched yet. @throws Error for a credential that the settings do not have */
  find(name: string): CredentialHeader | null {
    if (!this.has(name)) throw new Error(`credential ${name} is not configured`);
    return this.headers.get(name) ?? null;
  }

  /** @throws Error when it has no value */
  header(name: string): CredentialHeader {
    const header = this.find(name);
    if (header === null) throw new Error(`credential ${name} has no value`);
    return header;
  }

  /** The text of a reference, which is looked for in everything from outside from now on; null when there is none. */
  resolve(reference: string): string | null {
    const value = this.source.resolve(reference);
    if (value !== null) this.known.remember(reference, value);
    return value;
  }

  /** A token that was fetched is the value of its credential from now on. */
  hold(name: string, token: string): void {
    const credential = this.settings.credentials[name];
    if (credential === undefined) throw new Error(`credential ${name} is not configured`);
    this.known.remember(`token of ${name}`, token);
    this.headers.set(name, headerOf(credential, `token of ${name}`, token));
  }

  /** It has no value until the next token is held. */
  drop(name: string): void {
    this.headers.delete(name);
  }

  /** Reads what is a secret of the settings; one that has become unreadable changes nothing. Answers what has no value. */
  private settle(): readonly string[] {
    // What callbacks are signed with is never sent, but a tool knows it too and might repeat it.
    for (const { secret, previousSecret } of Object.values(this.settings.callbacks?.secrets ?? {})) {
      for (const reference of [secret, previousSecret]) if (reference !== null) this.resolve(reference);
    }
    const problems: string[] = [];
    for (const [name, credential] of Object.entries(this.settings.credentials)) {
      if (!isStatic(credential)) continue;
      const secret = this.resolve(credential.secret);
      if (secret === null) problems.push(`credentials.${name}.secret: ${credential.secret} has no value`);
      else this.headers.set(name, headerOf(credential, shown(credential), secret));
    }
    return problems;
  }

  private fetchedProblems(): readonly string[] {
    return Object.entries(this.settings.credentials).flatMap(([name, credential]) => {
      if (isStatic(credential)) return [];
      const { clientSecret, allowAddresses } = credential;
      const exchanged = credential.kind === 'token_exchange' ? credential : null;
      const references = { clientSecret, subjectToken: exchanged?.subjectToken, actorToken: exchanged?.actorToken };
      const values = Object.entries(references).flatMap(([key, reference]) =>
        typeof reference !== 'string' || this.resolve(reference) !== null ? [] : [`${key}: ${reference} has no value`],
      );
      const addresses = allowAddresses.flatMap((entry) =>
        isAllowEntryValid(entry) ? [] : [`allowAddresses: ${entry} is neither a class nor a range of addresses`],
      );
      return [...values, ...addresses].map((problem) => `credentials.${name}.${problem}`);
    });
  }
}

/** A secret that stays as it is; every other kind is fetched. */
export const isStatic = (credential: CredentialSettings): credential is StaticCredentialSettings =>
  credential.kind === undefined || credential.kind === 'static';

function headerOf({ header, scheme }: CredentialSettings, reference: string, value: string): CredentialHeader {
  return new CredentialHeader(header, reference, scheme === null ? value : `${scheme} ${value}`, scheme);
}

const shown = ({ secret }: StaticCredentialSettings): string => secret.replace(/^secret:/, '');
