import { createHash, createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Capability } from '../../capabilities/manifest.js';
import type { RenderedRequest } from '../../capabilities/request-rendering.js';
import { LeaseTokens } from '../../policy/leases/lease-tokens.js';
import type { CredentialHeader } from '../../secrets/credential-header.js';
import type { LoadedLease } from '../../storage/units/lease-in-unit.js';
import { Clock } from '../../system/clock.js';

type Headers = Readonly<Record<string, string>>;

/** How a request shows that it may be made, by the mode of the manifest's lease. What it makes goes to the socket and nowhere else. */
@Injectable()
export class LeaseCredentials {
  constructor(
    private readonly tokens: LeaseTokens,
    private readonly clock: Clock,
  ) {}

  /** The token of the lease, where the request carries one; null in every other mode. */
  async tokenFor(lease: LoadedLease | undefined): Promise<string | null> {
    return lease?.state.mode === 'token' ? this.tokens.tokenOf(lease) : null;
  }

  bearer({ manifest }: Capability, token: string): Headers {
    const header = manifest.lease?.header ?? null;
    return header === null ? { authorization: `Bearer ${token}` } : { [header]: token };
  }

  /**
   * The proxy signs: HMAC-SHA256 with the credential as key over `v1`, time in whole seconds, method, path with query,
   * SHA-256 of the body in hex and lease id, one per line. The tool knows the credential and never receives it.
   */
  signature(
    { method, url, body }: RenderedRequest,
    credential: CredentialHeader,
    lease: LoadedLease | undefined,
  ): Headers {
    const { pathname, search } = new URL(url);
    const timestamp = String(Math.floor(this.clock.now() / 1000));
    const digest = createHash('sha256')
      .update(body ?? new Uint8Array())
      .digest('hex');
    const leaseId = lease?.facts.lease_id ?? '';
    const signed = ['v1', timestamp, method, `${pathname}${search}`, digest, leaseId].join('\n');
    const signature = createHmac('sha256', secretOf(credential)).update(signed).digest('hex');
    return {
      'countersign-timestamp': timestamp,
      'countersign-lease': leaseId,
      'countersign-signature': `v1=${signature}`,
    };
  }
}

/** The credential without the scheme that would stand before it in a header. */
function secretOf(header: CredentialHeader): string {
  const [value = ''] = Object.values(header.reveal());
  return header.scheme === null ? value : value.slice(header.scheme.length + 1);
}
