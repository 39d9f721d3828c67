import { createHmac, createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AUDIENCE, ISSUER } from '../../examples/refunds/stack.mjs';

type Json = Readonly<Record<string, unknown>>;

export interface Forgery {
  readonly header?: Json;
  readonly claims?: Json;
  /** The text of the claims in place of their JSON. */
  readonly rawClaims?: string;
  readonly signer?: (input: string) => string;
}

/** Makes tokens by hand, with the installation's own key or with any other, so that everything about them can be wrong. */
export class TokenForge {
  private readonly own: KeyObject;
  /** The public half as the installation trusts it. */
  readonly trusted: Json;

  constructor(dir: string) {
    const jwk = JSON.parse(readFileSync(join(dir, 'private-key.json'), 'utf8')) as { readonly kid: string };
    this.own = createPrivateKey({ key: jwk as never, format: 'jwk' });
    const set = JSON.parse(readFileSync(join(dir, 'public-keys.json'), 'utf8')) as { readonly keys: readonly Json[] };
    this.trusted = set.keys[0] as Json;
  }

  /** A token that is right but for what is said here. */
  make({ header = {}, claims = {}, rawClaims, signer = this.byOwnKey }: Forgery = {}): string {
    const now = Math.floor(Date.now() / 1000);
    const head = { alg: 'Ed25519', kid: this.trusted['kid'], typ: 'at+jwt', ...header };
    const body = {
      iss: ISSUER,
      aud: AUDIENCE,
      iat: now,
      exp: now + 3_600,
      sub: 'lena',
      tenant: 'acme',
      roles: ['approver'],
      groups: ['support-lead'],
      ...claims,
    };
    const input = `${encode(JSON.stringify(head))}.${encode(rawClaims ?? JSON.stringify(body))}`;
    return `${input}.${signer(input)}`;
  }

  readonly byOwnKey = (input: string): string => sign(null, Buffer.from(input), this.own).toString('base64url');

  readonly byAnotherKey = (input: string): string =>
    sign(null, Buffer.from(input), ANOTHER.privateKey).toString('base64url');

  /** HMAC with the bytes of the public key, in every form an attacker might guess. */
  byPublicKeyAsSecret(form: 'x' | 'raw' | 'jwk'): (input: string) => string {
    const x = this.trusted['x'] as string;
    const secret = { x, raw: Buffer.from(x, 'base64url'), jwk: JSON.stringify(this.trusted) }[form];
    return (input) => createHmac('sha256', secret).update(input).digest('base64url');
  }
}

/** A key pair nobody trusts. */
export const ANOTHER = generateKeyPairSync('ed25519');

const encode = (text: string): string => Buffer.from(text).toString('base64url');
