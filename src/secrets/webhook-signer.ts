import { createHmac } from 'node:crypto';
import { resolveSecret } from './secret-reference.js';

/** The text behind a reference; null when there is none. */
export type SecretResolver = (reference: string) => string | null;

const PREFIX = 'whsec_';
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Standard Webhooks, "Secret": between 24 and 64 bytes. */
const SECRET_BYTES_MIN = 24;
const SECRET_BYTES_MAX = 64;

/** A file is looked at again no more often than this. */
const REREAD_MS = 5_000;

/** What is wrong with the references, a sentence each; the values themselves are never repeated. */
export function signerProblems(
  references: readonly string[],
  resolve: SecretResolver = resolveSecret,
): readonly string[] {
  return references.flatMap((reference) => {
    const text = resolve(reference);
    if (text === null) return [`${reference} has no value`];
    if (keysIn(text) === null)
      return [`${reference} must hold ${PREFIX} and the base64 of ${SECRET_BYTES_MIN} to ${SECRET_BYTES_MAX} bytes`];
    return [];
  });
}

/**
 * Signs deliveries as Standard Webhooks says (symmetric, `v1`). Every secret signs, so that receivers can change over
 * one by one. Files are read again, so that rotation needs no restart; a file that has become unreadable changes nothing.
 */
export class WebhookSigner {
  readonly #keys = new Map<string, readonly Buffer[]>();
  private readAtMs: number;

  /** `now`: monotonic milliseconds. Throws a plain `Error` when a reference has a problem: they are checked at boot. */
  constructor(
    private readonly references: readonly string[],
    private readonly now: () => number,
    private readonly resolve: SecretResolver = resolveSecret,
  ) {
    if (signerProblems(references, resolve).length > 0) throw new Error('a signing secret is not usable');
    this.readAtMs = now();
    this.read();
  }

  /** The value of `webhook-signature` for a delivery of these bytes. */
  sign(id: string, timestampSeconds: number, body: string): string {
    this.readAgain();
    return [...this.#keys.values()]
      .flat()
      .map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`)
      .join(' ');
  }

  toJSON(): string {
    return '[signer]';
  }

  private readAgain(): void {
    if (this.now() - this.readAtMs < REREAD_MS) return;
    this.readAtMs = this.now();
    this.read();
  }

  private read(): void {
    for (const reference of this.references) {
      const keys = keysIn(this.resolve(reference) ?? '');
      if (keys !== null) this.#keys.set(reference, keys);
    }
  }
}

/** The keys in a text, one a line; null when there is none or one of them is none. */
function keysIn(text: string): readonly Buffer[] | null {
  const keys = text.split(/\s+/).map(keyOf);
  return keys.every((key) => key !== null) ? keys : null;
}

function keyOf(secret: string): Buffer | null {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : '';
  if (!BASE64.test(encoded)) return null;
  const key = Buffer.from(encoded, 'base64');
  return key.length >= SECRET_BYTES_MIN && key.length <= SECRET_BYTES_MAX ? key : null;
}
