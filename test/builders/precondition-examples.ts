import type { UpstreamCredentials } from '../../src/secrets/upstream/upstream-credentials.js';
import type { Settings } from '../../src/config/settings.js';
import type { HttpClient } from '../../src/egress/http-client.js';
import type { NoResponseCause, OutboundRequest, OutboundResult } from '../../src/egress/outbound-request.js';
import { PreconditionReader } from '../../src/policy/preconditions/precondition-reader.js';
import { Preconditions } from '../../src/policy/preconditions/preconditions.js';
import { Credentials } from '../../src/secrets/credentials.js';
import type { Store } from '../../src/storage/store.js';
import type { Clock } from '../../src/system/clock.js';
import type { Logger } from '../../src/system/logger.js';
import type { Changes } from '../contract/capabilities/manifest-examples.js';

type Json = Readonly<Record<string, unknown>>;

const evidence = { bytesWritten: true, headersFlushed: true, startedAtMs: 0, endedAtMs: 1 } as const;

/** The world as the tool tells it: what each path answers, and every request that was made. */
export class ScriptedWorld {
  readonly asked: OutboundRequest[] = [];
  /** By path; what is not here is not found. */
  readonly values = new Map<string, unknown>();
  /** Takes the place of every answer. */
  failure: NoResponseCause | { readonly status: number; readonly text?: string; readonly isCut?: boolean } | null =
    null;
  /** Called before each answer. */
  onAsked: (path: string) => void | Promise<void> = () => {};

  async send(request: OutboundRequest): Promise<OutboundResult> {
    this.asked.push(request);
    const path = new URL(request.url).pathname;
    await this.onAsked(path);
    const { failure } = this;
    if (typeof failure === 'string') return { kind: 'no_response', cause: failure, evidence };
    const value = this.values.get(path);
    const answer = failure ?? { status: value === undefined ? 404 : 200, text: JSON.stringify(value ?? {}) };
    return {
      kind: 'response',
      status: answer.status,
      headers: {},
      body: Buffer.from(answer.text ?? '{}'),
      bodyTruncated: 'isCut' in answer && answer.isCut,
      evidence,
    };
  }

  /** The real reading and judging of it. */
  preconditions(settings: Settings, store: Store, clock: Clock, logger: Logger): Preconditions {
    const http = this as unknown as HttpClient;
    return new Preconditions(
      new PreconditionReader(http, new Credentials(settings), settings, clock, NOTHING_FETCHED),
      store,
      logger,
    );
  }
}

export const ORDER_PATH = '/api/v1/orders/o-1';

/** A precondition of a manifest about the order of the arguments. */
export function preconditionWith(more: Json = {}): Json {
  return {
    name: 'order_status',
    title: 'The order is as it was',
    request: { method: 'GET', path: '/v1/orders/{args.orderId}' },
    at: '/status',
    ...more,
  };
}

/** Changes that make a manifest rest on preconditions. */
export const restsOn = (...preconditions: readonly Json[]): Changes => ({ preconditions });

/** Every credential of the settings is a fixed secret. */
export const NOTHING_FETCHED = { ready: () => null } as unknown as UpstreamCredentials;
