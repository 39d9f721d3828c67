import { randomFillSync } from 'node:crypto';

/** Cryptographic randomness, injected so that ids can be counted in tests. */
export abstract class RandomSource {
  abstract bytes(count: number): Uint8Array;
}

const POOL_BYTES = 8192;

/** Draws from the operating system in pools: one id needs ten bytes and a system call costs more than the id. */
export class SystemRandom extends RandomSource {
  private readonly pool = Buffer.allocUnsafe(POOL_BYTES);
  private used = POOL_BYTES;

  override bytes(count: number): Uint8Array {
    if (count > POOL_BYTES) return randomFillSync(Buffer.allocUnsafe(count));
    if (this.used + count > POOL_BYTES) {
      randomFillSync(this.pool);
      this.used = 0;
    }
    const start = this.used;
    this.used += count;
    return Uint8Array.prototype.slice.call(this.pool, start, this.used);
  }
}
