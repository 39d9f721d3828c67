import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { argsDigest } from '../../../src/domain/digests/digests.js';
import { eventView } from '../../../src/domain/events/event-view.js';
import type { JsonObject } from '../../../src/domain/json/json-value.js';
import { approvalPage } from '../../../src/http/approval-page.js';
import { represent } from '../../../src/http/approvals.controller.js';
import { EventStreamWriter } from '../../../src/http/event-stream.js';
import { cloudEventJson } from '../../../src/outbox/cloud-event.js';
import { noticeText, type NoticedEvent } from '../../../src/outbox/notice-text.js';
import { GetApproval, GetApprovalHandler } from '../../../src/runtime/queries/approval.queries.js';
import { ListApprovals, ListApprovalsHandler } from '../../../src/runtime/queries/approval.queries.js';
import { ApprovalViews } from '../../../src/runtime/views/approval.view.js';
import { APPROVER, Installation } from '../../builders/installation.js';

/** What is not seen, or is seen as something else. */
const HOSTILE: readonly (readonly [string, string])[] = [
  ['a right-to-left override', '\u202E'],
  ['a left-to-right isolate', '\u2066'],
  ['a zero-width space', '\u200B'],
  ['a zero-width joiner', '\u200D'],
  ['a byte order mark', '\uFEFF'],
  ['a soft hyphen', '\u00AD'],
  ['a terminal escape', '\u001B[2K'],
  ['a C1 control sequence', '\u009B2K'],
  ['a carriage return', '\r'],
  ['a line feed that begins a header or an event', '\ndata: approved'],
  ['a line separator', '\u2028'],
  ['a no-break space', '\u00A0'],
  ['an ideographic space', '\u3000'],
  ['a blank Braille pattern', '\u2800'],
  ['a Hangul filler', '\u3164'],
  ['a tag character', '\u{E0041}'],
];

const SENDER = { source: 'urn:countersign:x', publicUrl: 'https://approvals.example' };

/** What a reader of the event stream receives. */
async function streamed(json: string): Promise<string> {
  const written: string[] = [];
  const response = Object.assign(new EventEmitter(), {
    destroyed: false,
    writableLength: 0,
    writableNeedDrain: false,
    writeHead: () => undefined,
    write: (text: string) => written.push(text),
    end: () => undefined,
    destroy: () => undefined,
  });
  const timers = { after: () => () => undefined, every: () => () => undefined };
  const writer = new EventStreamWriter(response as unknown as FastifyReply['raw'], undefined, timers);
  async function* batches() {
    yield [{ position: 1, eventType: 'approval.required', json }];
  }
  await writer.run(batches(), () => undefined);
  return written.join('');
}

/** An approval about this text, as every channel shows it. */
async function channels(text: string) {
  const installation = new Installation();
  installation.policy.ask({ rules: [{ group: 'finance', count: 1, notRequester: true }] });
  const args = { orderId: text, amountMinor: 5 };
  const id = await installation.propose({ arguments: args, reason: text });
  const { row } = await installation.approvalOf(id);
  const { store } = installation;
  const views = new ApprovalViews(store);
  const view = await new GetApprovalHandler(store, views).execute(new GetApproval(APPROVER, row.approval_id));
  const list = await new ListApprovalsHandler(store, views).execute(new ListApprovals(APPROVER, null, 10, null));
  const asked = store.events.find(({ envelope }) => envelope.eventType === 'approval.required');
  const proposed = store.events.find(({ envelope }) => envelope.eventType === 'tool.call.proposed');
  if (asked === undefined || proposed === undefined) throw new Error('people are asked');
  const effective = proposed.payload['arguments'] as JsonObject;
  if (effective['orderId'] !== text) throw new Error('what was proposed is kept as it was sent');
  const told = cloudEventJson(SENDER, asked);
  return {
    digests: { kept: row.args_digest, ofTheOriginal: argsDigest(effective), shown: view.argsDigest },
    full: {
      view: JSON.stringify(view),
      list: JSON.stringify(list),
      page: approvalPage(represent(view)),
      webhook: told,
      'file line': `${told}\n`,
      'event stream': await streamed(JSON.stringify(eventView(asked))),
    },
    notice: noticeText(JSON.parse(told) as NoticedEvent),
  };
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

describe('a text that hides something', () => {
  it.each(HOSTILE)('%s is shown escaped in every channel, and signed as it was sent [W01, X10]', async (_, hidden) => {
    const text = `left${hidden}right`;
    const { digests, full, notice } = await channels(text);
    for (const [channel, shown] of Object.entries(full)) {
      const hides =
        shown.includes(text) || shown.includes(inJson(text)) || shown.includes(hidden.slice(0, 1) + 'right');
      const escaped = /left\\{1,2}u\{[0-9A-F]{4,6}\}/.test(shown);
      expect([channel, hides, escaped]).toEqual([channel, false, true]);
    }
    expect(notice).not.toContain('right');
    expect(digests.kept).toBe(digests.ofTheOriginal);
    expect(digests.shown).toBe(digests.ofTheOriginal);
  });

  it('cannot begin another line of a file or another event of a stream', async () => {
    const { full } = await channels('left\r\n\r\nid: 9\nevent: approval.granted\ndata: {}\n\nright');
    expect(full['file line'].trimEnd().split(/[\r\n]/)).toHaveLength(1);
    expect(full['event stream'].match(/^event: .*$/gm)).toEqual(['event: approval.required']);
  });

  it('cannot pass for an escape of ours', async () => {
    const { full } = await channels('left\\u{202E}right');
    for (const shown of Object.values(full)) expect(shown).toContain('u{005C}');
  });
});
