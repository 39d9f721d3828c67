import type {
  AppendAnswer,
  FlushAnswer,
  InspectAnswer,
  ResumePacketRepresentation,
  SessionEventPage,
  SessionRepresentation,
  StateRepresentation,
} from '../../src/client/contract/sessions.js';
import type { RunRepresentation } from '../../src/client/contract/runs.js';
import type { Answer, Client } from './http-client.js';

export interface Said {
  readonly type: string;
  readonly payload: object;
  readonly runId?: string;
  readonly turnId?: string;
  readonly stepId?: string;
}

export const text = (words: string): object[] => [{ type: 'text', text: words }];

export const userMessage = (messageId: string, words = `words of ${messageId}`): Said => ({
  type: 'user.message',
  payload: { messageId, contents: text(words) },
});

/** A harness that keeps what it must: its owner epoch, and the `seq` its next event gets. */
export class SessionClient {
  ownerEpoch = 0;
  nextSeq = 0;

  constructor(
    readonly http: Client,
    readonly sessionId: string,
    readonly instanceId = 'harness-a',
  ) {}

  get path(): string {
    return `/v1/sessions/${encodeURIComponent(this.sessionId)}`;
  }

  async open(more: object = {}): Promise<Answer<SessionRepresentation>> {
    const { sessionId, instanceId } = this;
    const answer = await this.http.post<SessionRepresentation>('/v1/sessions', {
      sessionId,
      harness: { instanceId },
      ...more,
    });
    if (answer.status === 201) {
      this.ownerEpoch = answer.body.ownerEpoch;
      this.nextSeq = (answer.body.log?.headSeq ?? -1) + 1;
    }
    return answer;
  }

  async attach(): Promise<Answer<ResumePacketRepresentation>> {
    const answer = await this.http.post<ResumePacketRepresentation>(`${this.path}/attach`, {
      harness: { instanceId: this.instanceId },
    });
    if (answer.status === 200) {
      this.ownerEpoch = answer.body.ownerEpoch;
      this.nextSeq = answer.body.headSeq + 1;
    }
    return answer;
  }

  /** Appends where the log ends as far as this client knows. */
  async append(events: readonly Said[], more: object = {}, query = ''): Promise<Answer<AppendAnswer>> {
    const body = { ownerEpoch: this.ownerEpoch, expectedSeq: this.nextSeq, events, ...more };
    const answer = await this.http.post<AppendAnswer>(`${this.path}/events${query}`, body);
    if (answer.status === 200) this.nextSeq = answer.body.headSeq + 1;
    return answer;
  }

  /** Appends durably, after whatever the session itself has written meanwhile. */
  async say(...events: readonly Said[]): Promise<AppendAnswer> {
    for (let tries = 0; tries < 20; tries += 1) {
      const answer = await this.append(events, {}, '?durable=true');
      if (answer.status === 200) return answer.body;
      if ((answer.body as { code?: string }).code !== 'seq_conflict') {
        throw new Error(`the append was refused: ${JSON.stringify(answer.body)}`);
      }
      this.nextSeq = ((await this.show()).body.log?.headSeq ?? -1) + 1;
    }
    throw new Error('somebody else writes all the time');
  }

  show(): Promise<Answer<SessionRepresentation>> {
    return this.http.get<SessionRepresentation>(this.path);
  }

  flush(): Promise<Answer<FlushAnswer>> {
    return this.http.post<FlushAnswer>(`${this.path}/flush`, {});
  }

  events(query = ''): Promise<Answer<SessionEventPage>> {
    return this.http.get<SessionEventPage>(`${this.path}/events${query}`);
  }

  async types(): Promise<readonly string[]> {
    return (await this.events()).body.items.map(({ eventType }) => eventType);
  }

  state(): Promise<Answer<StateRepresentation>> {
    return this.http.get<StateRepresentation>(`${this.path}/state`);
  }

  async messages(): Promise<readonly { readonly role: string; readonly disposition?: string }[]> {
    const { agentState } = (await this.state()).body;
    return (agentState['history'] as { messages: { role: string; disposition?: string }[] }).messages;
  }

  startRun(clientId = 'run-1'): Promise<Answer<RunRepresentation>> {
    return this.http.post<RunRepresentation>(`${this.path}/runs`, { ownerEpoch: this.ownerEpoch, clientId });
  }

  inspectAs(operator: Client, query = ''): Promise<Answer<InspectAnswer>> {
    return operator.get<InspectAnswer>(`${this.path}/inspect${query}`);
  }

  /** A turn whose model has answered with these calls. */
  async turnWithCalls(runId: string, callIds: readonly string[], turnId = 'turn-1'): Promise<void> {
    const place = { runId, turnId, stepId: `${turnId}-step` };
    const toolCalls = callIds.map((callId) => ({ callId, name: 'refund.create', arguments: {} }));
    await this.say(
      { type: 'turn.started', runId, turnId, payload: {} },
      { type: 'step.started', ...place, payload: {} },
      {
        type: 'assistant.message',
        ...place,
        payload: { messageId: `${turnId}-answer`, contents: toolCalls.length === 0 ? text('done') : [], toolCalls },
      },
    );
  }

  async endTurn(runId: string, turnId = 'turn-1'): Promise<void> {
    await this.say(
      { type: 'step.ended', runId, turnId, stepId: `${turnId}-step`, payload: { outcome: 'completed' } },
      { type: 'turn.ended', runId, turnId, payload: { outcome: 'completed' } },
    );
  }
}
