import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SignJWT, type JWTPayload } from 'jose';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { privateDirectory, syncDirectory } from '../storage/private-files.js';
import type { Clock } from '../system/clock.js';

/** The one algorithm of lease tokens (RFC 9864). */
export const LEASE_ALGORITHM = 'Ed25519';
export const LEASE_TOKEN_TYPE = 'lease+jwt';

const STATE_FILE = 'keys.json';
const ROTATIONS_KEPT = 100;
/** Somebody but its owner may read it or put another one in its place. */
const NOT_PRIVATE = 0o077;
/** Public keys are no secret, but whoever can put one there can sign. */
const WRITABLE_BY_OTHERS = 0o022;

/** A public key as the key set shows it (RFC 7517, RFC 8037). */
export interface LeaseJwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly alg: typeof LEASE_ALGORITHM;
  readonly use: 'sig';
}

interface KeptKey {
  readonly kid: string;
  readonly x: string;
  readonly publishedAtMs: number;
  readonly retiredAtMs: number | null;
}

/** What a command of this name has changed, so that it changes nothing when it comes again. */
interface Rotation {
  readonly command: string;
  readonly kid: string;
  readonly nextKid: string;
}

interface KeyState {
  readonly current: string;
  readonly next: string;
  readonly keys: readonly KeptKey[];
  /** The newest, at most `ROTATIONS_KEPT`; absent in states of earlier versions. */
  readonly rotations?: readonly Rotation[];
}

export interface LeaseKeyTimes {
  /** How long a key set may be kept by others; a key signs only after it has been published for as long. */
  readonly publishMs: number;
  /** How long a key that signs no more is still needed: the longest lease. */
  readonly keepMs: number;
}

/**
 * The keys that lease tokens are signed with: the one in use, the next one, published before its first use, and old ones
 * until the last lease they signed has ended. Private halves are files of their own (0400) in a directory of the owner
 * alone. Made at the first use, so an installation without token leases has none.
 */
export class LeaseKeys {
  private state: KeyState | null;
  readonly #private = new Map<string, KeyObject>();
  private readonly publicKeys = new Map<string, KeyObject>();

  constructor(
    private readonly dir: string,
    private readonly times: LeaseKeyTimes,
    private readonly clock: Pick<Clock, 'now'>,
  ) {
    this.state = this.read();
  }

  /** The key that signs now. */
  get currentKid(): string {
    return this.opened().current;
  }

  /** What verifiers may rely on, the current key first; empty while no token was ever signed. */
  jwks(): readonly LeaseJwk[] {
    if (this.state === null) return [];
    const { current } = this.state;
    return this.fresh(this.state)
      .keys.toSorted((left, right) => Number(right.kid === current) - Number(left.kid === current))
      .map(({ kid, x }) => ({ kty: 'OKP', crv: 'Ed25519', x, kid, alg: LEASE_ALGORITHM, use: 'sig' }));
  }

  /** Null for a key that was never ours, or is needed no more. */
  publicKey(kid: string): KeyObject | null {
    const jwk = this.jwks().find((key) => key.kid === kid);
    if (jwk === undefined) return null;
    const known =
      this.publicKeys.get(kid) ?? createPublicKey({ key: { kty: jwk.kty, crv: jwk.crv, x: jwk.x }, format: 'jwk' });
    this.publicKeys.set(kid, known);
    return known;
  }

  /** Deterministic: equal claims under one key are one token. @throws CountersignError `signing_key_unusable` */
  sign(kid: string, claims: JWTPayload): Promise<string> {
    const header = { alg: LEASE_ALGORITHM, typ: LEASE_TOKEN_TYPE, kid };
    return new SignJWT(claims).setProtectedHeader(header).sign(this.privateKey(kid));
  }

  /** @throws CountersignError `lease_key_too_young` when verifiers may not know the next key yet */
  mustBeOldEnough(command: string): void {
    if (this.rotatedBy(command) !== undefined) return;
    const { next, keys } = this.opened();
    const nowMs = this.clock.now();
    const publishedAtMs = keys.find(({ kid }) => kid === next)?.publishedAtMs ?? nowMs;
    if (nowMs - publishedAtMs >= this.times.publishMs) return;
    throw new CountersignError('lease_key_too_young', 'the next key has not been published for long enough', {
      retryAfterSeconds: Math.ceil((publishedAtMs + this.times.publishMs - nowMs) / 1000),
    });
  }

  /**
   * The next key signs from now on, and another next one is published. Once per command, however often that comes.
   *
   * @throws CountersignError `lease_key_too_young`
   */
  rotate(command: string): { readonly kid: string; readonly nextKid: string } {
    const earlier = this.rotatedBy(command);
    if (earlier !== undefined) return { kid: earlier.kid, nextKid: earlier.nextKid };
    this.mustBeOldEnough(command);
    const { current, next, keys, rotations = [] } = this.fresh(this.opened());
    const nowMs = this.clock.now();
    const made = this.make(nowMs);
    const retired = keys.map((key) => (key.kid === current ? { ...key, retiredAtMs: nowMs } : key));
    const rotation = { kid: next, nextKid: made.kid };
    this.write({
      current: next,
      next: made.kid,
      keys: [...retired, made],
      rotations: [...rotations, { command, ...rotation }].slice(-ROTATIONS_KEPT),
    });
    return rotation;
  }

  private rotatedBy(command: string): Rotation | undefined {
    return this.state?.rotations?.find((rotation) => rotation.command === command);
  }

  private opened(): KeyState {
    if (this.state === null) {
      privateDirectory(this.dir);
      const nowMs = this.clock.now();
      const [current, next] = [this.make(nowMs), this.make(nowMs)];
      this.write({ current: current.kid, next: next.kid, keys: [current, next] });
    }
    if (this.state === null) throw new Error('the state of the keys was just written');
    return this.state;
  }

  /** Without the keys whose last lease has ended. */
  private fresh(state: KeyState): KeyState {
    const nowMs = this.clock.now();
    const isNeeded = ({ retiredAtMs }: KeptKey): boolean =>
      retiredAtMs === null || nowMs < retiredAtMs + this.times.keepMs;
    if (state.keys.every(isNeeded)) return state;
    for (const { kid } of state.keys.filter((key) => !isNeeded(key))) {
      rmSync(this.privateFile(kid), { force: true });
      this.#private.delete(kid);
      this.publicKeys.delete(kid);
    }
    this.write({ ...state, keys: state.keys.filter(isNeeded) });
    return this.state ?? state;
  }

  private make(nowMs: number): KeptKey {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const kid = randomBytes(12).toString('hex');
    writeFileSync(this.privateFile(kid), `${JSON.stringify(privateKey.export({ format: 'jwk' }))}\n`, {
      mode: 0o400,
      flag: 'wx',
      // The state that names it must not be on disk before it is.
      flush: true,
    });
    return { kid, x: publicKey.export({ format: 'jwk' }).x ?? '', publishedAtMs: nowMs, retiredAtMs: null };
  }

  /** The whole state or the one before: a name is only ever given to a file that is complete. */
  private write(state: KeyState): void {
    const file = join(this.dir, STATE_FILE);
    writeFileSync(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file);
    syncDirectory(this.dir);
    this.state = state;
  }

  private read(): KeyState | null {
    const file = join(this.dir, STATE_FILE);
    if (!existsSync(file)) return null;
    if ((statSync(file).mode & WRITABLE_BY_OTHERS) !== 0)
      throw unusable(`${file} can be written by others; chmod 600 it`);
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as KeyState;
    } catch {
      throw unusable(`${file} cannot be read`);
    }
  }

  private privateKey(kid: string): KeyObject {
    const known = this.#private.get(kid);
    if (known !== undefined) return known;
    const file = this.privateFile(kid);
    if (!/^[0-9a-f]{24}$/.test(kid) || !existsSync(file)) throw unusable('the key of the lease is gone');
    if ((statSync(file).mode & NOT_PRIVATE) !== 0) throw unusable(`${file} can be read by others; chmod 400 it`);
    const jwk = JSON.parse(readFileSync(file, 'utf8')) as { kty: string; crv: string; x: string; d: string };
    const key = createPrivateKey({ key: jwk, format: 'jwk' });
    this.#private.set(kid, key);
    return key;
  }

  private privateFile(kid: string): string {
    return join(this.dir, `${kid}.private.json`);
  }
}

const unusable = (message: string): CountersignError => new CountersignError('signing_key_unusable', message);
