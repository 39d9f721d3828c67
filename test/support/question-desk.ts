import { expect } from '@jest/globals';
import type { ApprovalRepresentation } from '../../src/client/contract/approvals.js';
import { ask, opaqueManifest } from './demo-capabilities.js';
import { approvalIdOf, type Client } from './http-client.js';
import { CAST, Stack } from './stack.js';

const AMOUNT = { amount: { type: 'integer' } };

export interface Pending {
  readonly toolCallId: string;
  readonly approvalId: string;
  /** Where decisions go. */
  readonly path: string;
  readonly shown: ApprovalRepresentation;
  readonly etag: string;
}

/** The product with `demo.pay` and the patient `demo.long`, for which one of the leads is asked, and `demo.wire`, which needs two. */
export class QuestionDesk {
  private amount = 0;

  private constructor(
    readonly stack: Stack,
    readonly harness: Client,
    readonly lena: Client,
    readonly omar: Client,
    readonly operator: Client,
  ) {}

  static async open(): Promise<QuestionDesk> {
    const stack = await Stack.start({
      capabilities: {
        ...opaqueManifest('demo.pay', AMOUNT),
        ...opaqueManifest('demo.wire', AMOUNT),
        ...opaqueManifest('demo.long', AMOUNT, { timeout: '60s' }),
      },
      policies: { ...ask('demo.pay'), ...ask('demo.wire', { quorum: 2 }), ...ask('demo.long') },
    });
    const { harness, lena, omar, operator } = CAST;
    return new QuestionDesk(
      stack,
      await stack.as(harness),
      await stack.as(lena),
      await stack.as(omar),
      await stack.as(operator),
    );
  }

  /** A question nobody has answered, as lena sees it. */
  async pending(capability: 'demo.pay' | 'demo.wire' | 'demo.long' = 'demo.pay'): Promise<Pending> {
    this.amount += 1;
    const proposed = await this.harness.propose(capability, { amount: this.amount }, { wait: 0 });
    const approvalId = approvalIdOf(proposed);
    const shown = await this.lena.approval(approvalId);
    return {
      toolCallId: proposed.body.toolCallId,
      approvalId,
      path: `/v1/approvals/${approvalId}/decision`,
      shown: shown.body,
      etag: shown.headers.get('etag') ?? '',
    };
  }

  /** Nothing about the question has moved, and nothing ran. */
  async expectUntouched({ approvalId, toolCallId, shown, etag }: Pending): Promise<void> {
    const now = await this.lena.approval(approvalId);
    expect(now.body).toEqual(shown);
    expect(now.headers.get('etag')).toBe(etag);
    expect((await this.harness.call(toolCallId)).body.status).toBe('proposed');
    expect(this.executionsOf(shown)).toBe(0);
  }

  /** How often the tool got exactly what the question shows. */
  executionsOf(shown: ApprovalRepresentation): number {
    const body = JSON.stringify(shown.arguments);
    return this.stack.tool.executions(`/${shown.capability}`).filter((request) => request.body === body).length;
  }
}
