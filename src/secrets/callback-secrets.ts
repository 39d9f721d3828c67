import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { Clock } from '../system/clock.js';
import { SecretSource } from './secret-reference.js';

/** A signed request as it arrived; absent headers are undefined. */
export interface Delivery {
  readonly id: string | undefined;
  /** Whole seconds since 1970. */
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  readonly body: Uint8Array;
}

const BASE64_PREFIX = 'whsec_';
const SCHEME = 'v1,';
/** A header with more signatures than any rotation needs is somebody trying things out. */
const SIGNATURES_MAX = 8;
const DELIVERY_ID = /^[\x21-\x7e]{1,255}$/;

/**
 * Checks the signatures of callbacks: Standard Webhooks, HMAC-SHA256 over `id.timestamp.body`. Secrets are resolved once
 * at boot; others ask whether a signature is right and never see one.
 */
@Injectable()
export class CallbackSecrets {
  readonly #keys = new Map<string, readonly Buffer[]>();

  constructor(
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly source: SecretSource,
  ) {
    const problems = this.settle();
    if (problems.length > 0) {
      throw new CountersignError('invalid_settings', `settings are not usable:\n  ${problems.join('\n  ')}`, {
        problems,
      });
    }
    source.onChange(() => void this.settle());
  }

  /** True when the delivery is signed with the named secret and its time is near ours. Never throws. */
  isSigned(name: string, delivery: Delivery): delivery is Delivery & { readonly id: string } {
    const { id, timestamp, signature, body } = delivery;
    if (id === undefined || timestamp === undefined || signature === undefined) return false;
    if (!DELIVERY_ID.test(id) || !/^\d{1,12}$/.test(timestamp)) return false;
    if (Math.abs(this.clock.now() - Number(timestamp) * 1000) > this.settings.callbacks.toleranceMs) return false;
    const offered = signature
      .split(' ', SIGNATURES_MAX)
      .filter((part) => part.startsWith(SCHEME))
      .map((part) => Buffer.from(part.slice(SCHEME.length), 'base64'));
    const keys = this.#keys.get(name) ?? [];
    return keys.some((key) => {
      const right = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
      return offered.some((other) => other.length === right.length && timingSafeEqual(other, right));
    });
  }

  /** Resolves every secret; answers what has no value, which keeps the value it had. */
  private settle(): readonly string[] {
    const problems: string[] = [];
    for (const [name, { secret, previousSecret }] of Object.entries(this.settings.callbacks.secrets)) {
      const keys: Buffer[] = [];
      for (const reference of previousSecret === null ? [secret] : [secret, previousSecret]) {
        const value = this.source.resolve(reference);
        if (value === null) problems.push(`callbacks.secrets.${name}: ${reference} has no value`);
        else keys.push(keyOf(value));
      }
      if (keys.length > 0) this.#keys.set(name, keys);
    }
    return problems;
  }
}

const keyOf = (secret: string): Buffer =>
  secret.startsWith(BASE64_PREFIX) ? Buffer.from(secret.slice(BASE64_PREFIX.length), 'base64') : Buffer.from(secret);
