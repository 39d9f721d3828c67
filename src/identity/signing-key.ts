import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignJWT, exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from 'jose';
import { CountersignError } from '../domain/errors/countersign-error.js';

const JTI_BYTES = 16;

/** Names of the two files of a key pair below its directory. */
const PRIVATE_FILE = 'private-key.json';
const PUBLIC_FILE = 'public-keys.json';

/** Others may read it, or somebody but its owner may put another key in its place. A group may read: mounted secrets are often so. */
const NOT_PRIVATE = 0o027;

/** The algorithm of a key that does not name one, by its curve or type. */
const ALGORITHMS: Readonly<Record<string, string | undefined>> = {
  Ed25519: 'Ed25519',
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
  RSA: 'RS256',
};

export interface KeyPairFiles {
  readonly privateFile: string;
  /** A JWK set with the public half: what `identity.jwksFile` names. */
  readonly jwksFile: string;
}

export interface TokenTerms {
  readonly issuer: string;
  readonly audience: string;
  readonly issuedAtSeconds: number;
  readonly lifetimeSeconds: number;
}

export const keyPairFiles = (dir: string): KeyPairFiles => ({
  privateFile: join(dir, PRIVATE_FILE),
  jwksFile: join(dir, PUBLIC_FILE),
});

/**
 * Makes an Ed25519 key pair in a directory: the private half readable by its owner alone.
 *
 * @throws CountersignError `signing_key_exists` when there is one; a key is never replaced
 */
export async function newKeyPair(dir: string): Promise<KeyPairFiles> {
  const files = keyPairFiles(dir);
  if (existsSync(files.privateFile) || existsSync(files.jwksFile)) {
    throw new CountersignError('signing_key_exists', `${dir} holds keys already`);
  }
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const pair = await generateKeyPair('Ed25519', { extractable: true });
  const kid = randomBytes(8).toString('hex');
  const publicKey = { ...(await exportJWK(pair.publicKey)), kid, alg: 'Ed25519', use: 'sig' };
  const privateKey = { ...(await exportJWK(pair.privateKey)), kid, alg: 'Ed25519' };
  writeFileSync(files.privateFile, `${JSON.stringify(privateKey)}\n`, { mode: 0o400, flag: 'wx' });
  writeFileSync(files.jwksFile, `${JSON.stringify({ keys: [publicKey] }, null, 2)}\n`, { mode: 0o644, flag: 'wx' });
  return files;
}

/** Signs tokens with a private key. It prints as nothing: the key never leaves it. */
export class TokenSigner {
  readonly #key: CryptoKey | Uint8Array;

  private constructor(
    key: CryptoKey | Uint8Array,
    readonly algorithm: string,
    private readonly kid: string | null,
  ) {
    this.#key = key;
  }

  /**
   * Reads a file with one private JWK (RFC 7517).
   *
   * @throws CountersignError `signing_key_unusable`; the message never repeats anything of the file
   */
  static async read(file: string): Promise<TokenSigner> {
    const jwk = privateJwk(file);
    const algorithm = jwk.alg ?? ALGORITHMS[jwk.crv ?? jwk.kty ?? ''];
    if (algorithm === undefined) throw unusable(`${file} does not say for which algorithm its key is`);
    try {
      return new TokenSigner(await importJWK(jwk, algorithm), algorithm, jwk.kid ?? null);
    } catch {
      throw unusable(`${file} holds no key that can be used`);
    }
  }

  /** An access token (RFC 9068) with an id of its own unless the claims bring one. Claims are taken as they are; `iss`, `aud`, `iat` and `exp` come from the terms. */
  sign(claims: Readonly<Record<string, unknown>>, terms: TokenTerms): Promise<string> {
    return new SignJWT({ jti: randomBytes(JTI_BYTES).toString('base64url'), ...claims })
      .setProtectedHeader({ alg: this.algorithm, ...(this.kid === null ? {} : { kid: this.kid }), typ: 'at+jwt' })
      .setIssuer(terms.issuer)
      .setAudience(terms.audience)
      .setIssuedAt(terms.issuedAtSeconds)
      .setExpirationTime(terms.issuedAtSeconds + terms.lifetimeSeconds)
      .sign(this.#key);
  }
}

function privateJwk(file: string): JWK {
  let jwk: JWK;
  try {
    if ((statSync(file).mode & NOT_PRIVATE) !== 0) {
      throw unusable(`${file} can be read or replaced by others; chmod 600 it`);
    }
    jwk = JSON.parse(readFileSync(file, 'utf8')) as JWK;
  } catch (error) {
    if (error instanceof CountersignError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    throw unusable(code === undefined ? `${file} is not JSON` : `${file} cannot be read (${code})`);
  }
  if (typeof jwk !== 'object' || jwk === null || typeof jwk.d !== 'string') {
    throw unusable(`${file} holds no private key`);
  }
  return jwk;
}

const unusable = (message: string): CountersignError => new CountersignError('signing_key_unusable', message);
