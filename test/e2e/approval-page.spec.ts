import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApprovalRepresentation } from '../../src/client/contract/approvals.js';
import { ask, opaqueManifest } from '../support/demo-capabilities.js';
import { eventCount } from '../support/event-records.js';
import { approvalIdOf, expectProblem, type Answer, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const HTML = { headers: { accept: 'text/html,application/xhtml+xml,application/json;q=0.9' } };

const PUBLIC = 'https://approvals.example';

let chat: WebhookReceiver;
let stack: Stack;
let harness: Client;
let lena: Client;

beforeAll(async () => {
  chat = await WebhookReceiver.start();
  const desk = { kind: 'chat', url: 'env:CHAT_URL', allowAddresses: ['loopback'] };
  stack = await Stack.start({
    capabilities: opaqueManifest('demo.run', { cmd: { type: 'string', maxLength: 200_000 } }),
    policies: ask('demo.run'),
    env: {
      CHAT_URL: chat.url,
      COUNTERSIGN_OUTBOX__SINKS: JSON.stringify({ desk }),
      COUNTERSIGN_INSTALLATION__PUBLIC_URL: PUBLIC,
    },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
});
afterAll(async () => {
  await stack.destroy();
  await chat.stop();
});

interface Question {
  readonly shown: ApprovalRepresentation;
  readonly page: Answer<string>;
  readonly toolCallId: string;
}

async function question(args: object, reason?: string): Promise<Question> {
  const body = reason === undefined ? {} : { reason };
  const proposed = await harness.propose('demo.run', args, { wait: 0, body });
  const approvalId = approvalIdOf(proposed);
  const page = await lena.get<string>(`/v1/approvals/${approvalId}`, HTML);
  return { shown: (await lena.approval(approvalId)).body, page, toolCallId: proposed.body.toolCallId };
}

async function whatRan({ shown, toolCallId }: Question): Promise<unknown> {
  await lena.decide(shown.approvalId, 'allow');
  expect((await harness.call(toolCallId, 10)).body.status).toBe('completed');
  return (JSON.parse(stack.tool.executions('/demo.run').at(-1)?.body ?? '{}') as { cmd?: unknown }).cmd;
}

const MARKUP = /<(?:script|img|iframe|form|input|button|a|svg|object|link|base)\b/i;

describe('the page of an approval', () => {
  it('is text of a browser: no form, no script, no link, nothing that acts, nothing that is loaded', async () => {
    const { page, shown } = await question({ cmd: 'list' }, 'because');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.text).not.toMatch(MARKUP);
    expect(page.text).not.toMatch(/\son[a-z]+\s*=|javascript:/i);
    for (const fact of [
      shown.digest,
      'demo.run@1.0.0',
      'support-agent for sam',
      'because',
      'untrusted',
      shown.decideBy,
    ]) {
      expect(page.text).toContain(fact);
    }
  });

  it('escapes whatever the agent wrote, in arguments and in its own words', async () => {
    const evil = `</pre><script>fetch('//x')</script><img src=x onerror="y"><form action='/v1'>&amp;`;
    const { page } = await question({ cmd: evil }, evil);
    expect(page.text).not.toMatch(MARKUP);
    expect(page.text).toContain('&lt;script&gt;');
    expect(page.text).toContain('&amp;amp;');
  });

  it('never decides by being opened, and is shown to nobody who may not read it', async () => {
    const { shown } = await question({ cmd: 'look' });
    const before = eventCount(stack.dataDir);
    const path = `/v1/approvals/${shown.approvalId}`;
    for (let times = 0; times < 3; times += 1) await lena.get(`${path}?decision=allow&approved=true`, HTML);
    for (const way of ['GET', 'HEAD']) await lena.send(way, `${path}/decision`, undefined, HTML);
    expect(eventCount(stack.dataDir)).toBe(before);
    expect((await lena.approval(shown.approvalId)).body).toEqual(shown);
    expectProblem(await stack.withToken(null).get(path, HTML), 'unauthenticated');
    expectProblem(await harness.get(path, HTML), 'not_authorized');
    expectProblem(await (await stack.as(CAST.elsewhereLead)).get(path, HTML), 'approval_not_found');
  });
});

describe('what the approver sees', () => {
  it.each([
    ['a change of direction', 'wipe /srv \u202Etxt.eton', '\u202E'],
    ['a space of no width', 'list\u200Ball', '\u200B'],
    ['a terminal sequence', 'ok \u001B[2Kwipe', '\u001B'],
    ['a byte order mark', 'mark a\uFEFFb', '\uFEFF'],
    ['a line separator', 'line a\u2028b', '\u2028'],
    ['a tag character', 'tag a\u{E0041}b', '\u{E0041}'],
    ['a soft hyphen', 'hyphen a\u00ADb', '\u00AD'],
  ])('has %s escaped, while the digest and the tool get the original', async (_, cmd, hidden) => {
    const asked = await question({ cmd });
    const plain = await question({ cmd: cmd.replace(hidden, '') });
    expect(asked.shown.arguments['cmd']).not.toContain(hidden);
    expect(asked.shown.arguments['cmd']).toMatch(/\\u\{[0-9A-F]{2,5}\}/);
    expect(asked.page.text).not.toContain(hidden);
    expect(asked.shown.argsDigest).not.toBe(plain.shown.argsDigest);
    expect(asked.shown.shownDigest).not.toBe(plain.shown.shownDigest);
    expect(await whatRan(asked)).toBe(cmd);
  });

  it('is the whole of a long text, marked as long, with its end', async () => {
    const cmd = `${'a'.repeat(400)} && wipe /srv`;
    const asked = await question({ cmd });
    expect(asked.shown.arguments['cmd']).toBe(cmd);
    expect(asked.page.text).toContain('&amp;&amp; wipe /srv');
    expect(asked.page.text).toMatch(/Long request: \d+ characters, shown in full/);
    expect((await question({ cmd: 'short' })).page.text).not.toContain('Long request');
  });

  it('is everything behind 2,000 line breaks', async () => {
    const cmd = `${'\n'.repeat(2_000)}wipe /srv`;
    const asked = await question({ cmd });
    expect(JSON.stringify(asked.shown.arguments)).toContain('wipe /srv');
    expect(asked.page.text).toContain('wipe /srv');
    expect(asked.page.text).toMatch(/Long request/);
    expect(await whatRan(asked)).toBe(cmd);
  });

  it('says so when there is nothing to see', async () => {
    const asked = await question({});
    expect(asked.shown).toMatchObject({ arguments: {}, argumentsEmpty: true });
    expect(asked.page.text).toContain('The request has no arguments.');
    const missing = await harness.post('/v1/tool-calls', { capability: 'demo.run' });
    expect(expectProblem(missing, 'invalid_request').pointer).toBe('/arguments');
  });

  it("marks the agent's own words as such, with hidden characters escaped", async () => {
    const { shown, page } = await question({ cmd: 'x' }, 'approved by the board \u202Eyes');
    expect(shown.agentReason).toBe('approved by the board \\u{202E}yes');
    expect(page.text).toMatch(/The agent&#39;s own words \(untrusted\)|The agent's own words \(untrusted\)/);
  });
});

describe('the notice of an approval in a chat', () => {
  it('carries one link to the page, no argument and no word of the agent', async () => {
    const { shown } = await question({ cmd: 'canary-command' }, 'canary-reason');
    const link = `${PUBLIC}/v1/approvals/${shown.approvalId}`;
    const notice = await noticeWith(link);
    expect(notice).toContain('demo.run@1.0.0');
    expect(notice.match(/<[^>]*>/g)).toEqual([`<${link}|Open>`]);
    expect(notice).not.toMatch(/canary/);
  });

  it('changes nothing when scanners and previews follow its link, whoever they are [G04]', async () => {
    const { shown, toolCallId } = await question({ cmd: 'list --preview' });
    const notice = await noticeWith(shown.approvalId);
    const link = new URL(/<(https[^|]*)\|/.exec(notice)?.[1] ?? '');
    const before = eventCount(stack.dataDir);
    const bot = { 'user-agent': 'Slackbot-LinkExpanding 1.0' };
    const token = { authorization: `Bearer ${await stack.token(CAST.lena)}` };
    for (const headers of [bot, bot, { ...bot, ...token }]) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await fetch(`${stack.proxy.url}${link.pathname}`, { method, headers });
        expect([200, 401, 404]).toContain(answer.status);
      }
    }
    expect(eventCount(stack.dataDir)).toBe(before);
    expect((await lena.approval(shown.approvalId)).body.status).toBe('pending');
    await lena.decide(shown.approvalId, 'allow');
    expect((await harness.call(toolCallId, 10)).body.status).toBe('completed');
  });
});

const texts = (): readonly string[] => chat.requests.map(({ body }) => (JSON.parse(body) as { text: string }).text);

async function noticeWith(part: string): Promise<string> {
  const found = await until(
    'a notice',
    () => texts().find((text) => text.includes(part)),
    (text) => text !== undefined,
  );
  return found ?? '';
}
