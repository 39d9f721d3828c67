import { describe, expect, it } from '@jest/globals';
import { noticeText, type NoticedEvent } from './notice-text.js';

const LINK = 'https://approvals.example/v1/approvals/apr_1';

const asked = (changes: Record<string, unknown> = {}): NoticedEvent => ({
  type: 'approval.required',
  subject: 'approval/apr_1',
  link: LINK,
  data: {
    payload: {
      risk: 'high',
      decideBy: '2031-01-01T11:00:00.000Z',
      capability: 'refund.create',
      capabilityVersion: '1.2.0',
      requesterSubjects: ['ana', 'bot-7'],
      shown: {
        title: 'Refund',
        arguments: { iban: 'DE89370400440532013000' },
        agentReason: 'click <https://evil.example>',
      },
      ...changes,
    },
  },
});

describe('a notice', () => {
  it('says who is waited for, about what, until when, and where to look', () => {
    expect(noticeText(asked())).toBe(
      `Approval needed: *Refund (refund.create@1.2.0)*, risk high, asked for ana, bot-7. Decide before 2031-01-01T11:00:00.000Z. <${LINK}|Open>`,
    );
  });

  it('repeats no argument and no word of an agent', () => {
    const text = noticeText(asked());
    expect(text).not.toContain('DE89');
    expect(text).not.toContain('evil');
  });

  it('holds one link, which only shows something [G04]', () => {
    const links = noticeText(asked()).match(/<[^>]*>/g);
    expect(links).toEqual([`<${LINK}|Open>`]);
  });

  it.each([
    ['markup', 'pay <!channel> <https://evil.example|Open> *now* `x`'],
    ['an ampersand that would hide one', '&lt;!here&gt;'],
  ])('makes plain text of %s in a title', (_, title) => {
    const text = noticeText(asked({ shown: { title } })).replace(`<${LINK}|Open>`, '');
    expect(text).not.toMatch(/[<>`|]/);
    expect(text.replaceAll(/&(amp|lt|gt);/g, '')).not.toContain('&');
    expect(text.match(/\*/g)).toHaveLength(2);
  });

  it.each([
    ['turns the direction of text', 'pay\u202Eecila', '\\u{202E}'],
    ['cannot be seen', 'list\u200Ball', '\\u{200B}'],
    ['clears a terminal', '\u001B[2Kpay', '\\u{001B}'],
    ['begins a line', 'pay\nApproved by ana', '\\u{000A}'],
  ])('shows a character that %s [W01, X10]', (_, title, shown) => {
    expect(noticeText(asked({ shown: { title } }))).toContain(shown);
  });

  it('stays short whatever a name holds', () => {
    const people = Array.from({ length: 3 }, () => 'x'.repeat(10_000));
    expect(noticeText(asked({ requesterSubjects: people, shown: { title: 'y'.repeat(10_000) } })).length).toBeLessThan(
      1_500,
    );
  });

  it('names the stream where the installation has no public address', () => {
    const { link: _, ...nowhere } = asked();
    expect(noticeText(nowhere)).toMatch(/ approval\/apr_1$/);
  });

  it.each([
    ['approval.granted', { decidedBy: ['fin-1'], executeBy: 'T' }, 'Approved by fin-1'],
    ['approval.denied', { decidedBy: ['fin-1'] }, 'Denied by fin-1'],
    ['approval.expired', { deadline: 'T' }, 'Expired: nobody decided'],
    ['manual.handoff_opened', {}, 'It is not known whether'],
    ['tool.call.result_unknown', {}, 'not sent again'],
    ['run.stopped', {}, 'run.stopped.'],
  ])('says in words that %s', (type, payload, words) => {
    expect(noticeText({ type, subject: 's', data: { payload } })).toContain(words);
  });
});
