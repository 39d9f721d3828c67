import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SinkSettings } from '../../src/config/settings.js';
import { sinkSchema } from '../../src/config/sink.schema.js';
import type { OutboundRequest, OutboundResult } from '../../src/egress/outbound-request.js';
import { OutboxRelay } from '../../src/outbox/outbox-relay.js';
import { InstanceIdentity } from '../../src/storage/instance-identity.js';
import { resolveSecret } from '../../src/secrets/secret-reference.js';
import { UnitDesk } from '../../src/storage/units/unit-desk.js';
import type { RandomSource } from '../../src/system/random-source.js';
import { KeptLog } from './installation.js';
import { countedIds, ManualClock } from './manual-clock.js';
import { MemoryStore } from './memory-store.js';
import { settingsWith } from './settings-examples.js';

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** A file with a signing secret, for settings. */
export function secretFile(text = SECRET): string {
  const path = join(mkdtempSync(join(tmpdir(), 'countersign-secret-')), 'webhook');
  writeFileSync(path, text);
  return path;
}

/** A delivery as a receiver saw it. */
export interface Received {
  readonly id: string;
  readonly position: number;
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Answer = number | 'timeout' | 'connect_failed' | { status: number; headers: Record<string, string> };

/** A webhook receiver that answers as it is told, and keeps what it was sent. */
export class ScriptedReceiver {
  readonly attempts: Received[] = [];
  readonly taken: Received[] = [];
  answer: (delivery: Received) => Answer | Promise<Answer> = () => 200;

  async send(request: OutboundRequest): Promise<OutboundResult> {
    const body = Buffer.from(request.body ?? []).toString('utf8');
    const event = JSON.parse(body) as { id: string; sequence: string; subject: string };
    const { id, subject } = event;
    const received = { id, subject, position: Number(event.sequence), headers: request.headers, body };
    this.attempts.push(received);
    const answer = await this.answer(received);
    const evidence = { bytesWritten: true, headersFlushed: true, startedAtMs: 0, endedAtMs: 0 };
    if (typeof answer === 'string') return { kind: 'no_response', cause: answer, evidence };
    const { status, headers } = typeof answer === 'number' ? { status: answer, headers: {} } : answer;
    if (status >= 200 && status <= 299) this.taken.push(received);
    return { kind: 'response', status, headers, body: new Uint8Array(), bodyTruncated: false, evidence };
  }

  get positions(): readonly number[] {
    return this.taken.map(({ position }) => position);
  }

  /** What was taken of one call, by position. */
  of(call: string): readonly number[] {
    return this.taken.filter(({ subject }) => subject === `call/${call}`).map(({ position }) => position);
  }
}

/** Bytes that look random and are the same in every run. */
class RepeatableRandom implements RandomSource {
  private state = 1;

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => {
      this.state = (this.state * 48_271) % 2_147_483_647;
      return this.state & 0xff;
    });
  }
}

type SinkChanges = Partial<Omit<Extract<SinkSettings, { kind: 'webhook' }>, 'kind'>>;

export function webhookSettings(changes: SinkChanges = {}): SinkSettings {
  const written = {
    kind: 'webhook',
    url: 'https://ops.example/hook',
    secrets: [`file:${secretFile()}`],
    from: 'beginning',
  };
  return sinkSchema.parse({ ...written, ...changes });
}

export function fileSettings(path: string): SinkSettings {
  return sinkSchema.parse({ kind: 'file', path });
}

/** A relay on a store in memory, with a clock that stands still and a receiver that does as it is told. */
export class OutboxBench {
  readonly clock = new ManualClock('2031-01-01T10:00:00.000Z');
  readonly store = new MemoryStore(this.clock);
  readonly receiver = new ScriptedReceiver();
  readonly log = new KeptLog();
  readonly ids = countedIds(this.clock);
  readonly desk = this.deskOf(1);
  private calls = new Map<string, number>();

  constructor() {
    this.register(1);
  }

  /** An instance of the product on this store; those before it count as ended. */
  register(epoch: number): UnitDesk {
    for (const row of this.store.rows('instances')) this.store.seed('instances', { ...row, state: 'ended' });
    const at = this.clock.iso;
    const row = { instance_id: `ins_${epoch}`, epoch, pid: 1, started_at: at, heartbeat_at: at, state: 'running' };
    this.store.seed('instances', row);
    return this.deskOf(epoch);
  }

  relay(sinks: Readonly<Record<string, SinkSettings>> = { ops: webhookSettings() }, desk = this.desk): OutboxRelay {
    const settings = settingsWith({ outbox: { sinks } });
    return new OutboxRelay(
      settings,
      desk,
      { client: this.receiver, resolve: resolveSecret },
      new RepeatableRandom(),
      this.log,
    );
  }

  /** A relay that is open and makes a round only when it is told. */
  async opened(sinks?: Readonly<Record<string, SinkSettings>>, desk = this.desk): Promise<OutboxRelay> {
    const relay = this.relay(sinks, desk);
    await relay.open();
    return relay;
  }

  /** Makes rounds until there is nothing to do at once. */
  async settle(relay: OutboxRelay): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (await relay.tick());
  }

  /** Records one event about a call, of a type that webhooks are told of. */
  async announce(call: string, reason = 'no'): Promise<void> {
    const version = this.calls.get(call) ?? 0;
    const draft = this.desk.begin({
      tenant: 'acme',
      lane: 'settle',
      actor: { sub: 'sam' },
      correlationId: call,
      occurredAt: this.clock.iso,
      causationId: null,
      causeKind: 'external',
    });
    const payload = { basis: 'policy', reasons: [reason] } as const;
    draft.append({ kind: 'call', id: call }, version, [{ type: 'tool.call.denied', payload }], { toolCallId: call });
    await this.desk.commit(draft);
    this.calls.set(call, version + 1);
  }

  /** One event for each of so many calls. */
  async announceCalls(count: number, prefix = 'call'): Promise<void> {
    for (let n = 0; n < count; n += 1) await this.announce(`${prefix}_${n}`);
  }

  cursor(sink = 'ops'): number | undefined {
    return this.store.rows('sink_cursors').find((row) => row.sink === sink)?.position;
  }

  parked(state: 'parked' | 'dead' = 'parked'): readonly number[] {
    return this.store
      .rows('sink_parked')
      .filter((row) => row.state === state)
      .map(({ position }) => position)
      .toSorted((left, right) => left - right);
  }

  private deskOf(epoch: number): UnitDesk {
    const identity = new InstanceIdentity({ instanceId: `ins_${epoch}`, epoch });
    return new UnitDesk(this.store, this.ids, this.clock, identity);
  }
}
