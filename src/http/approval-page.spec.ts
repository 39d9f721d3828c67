import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ApprovalRepresentation } from '../client/contract/approvals.js';
import { escapeHtml } from '../domain/text/escape-text.js';
import { isLongForPeople } from '../runtime/views/approval.view.js';
import { approvalPage } from './approval-page.js';

const approval = (more: Partial<ApprovalRepresentation> = {}): ApprovalRepresentation =>
  ({
    approvalId: 'apr_1',
    status: 'pending',
    toolCallId: 'call_1',
    runId: 'run_1',
    attempt: 1,
    capability: 'refund.create',
    capabilityVersion: '1.0.0',
    title: 'Refund an order',
    description: 'Pays back.',
    risk: 'high',
    effect: 'probeable',
    arguments: { orderId: 'o-1' },
    argumentsEmpty: false,
    argumentsLong: isLongForPeople(more.arguments ?? {}),
    target: { url: 'https://pay.example/refunds' },
    digest: 'sha256:consent',
    argsDigest: 'sha256:args',
    shownDigest: 'sha256:shown',
    requester: { sub: 'alice', act: 'agent-7' },
    agentReason: null,
    reasons: ['amount'],
    determining: ['p-1'],
    policyRevision: 'sha256:policy',
    decideBy: '2031-01-01T11:00:00.000Z',
    executeByLatest: '2031-01-01T11:15:00.000Z',
    executeBy: null,
    needed: [{ group: 'finance', count: 2, have: 1, notRequester: true }],
    votes: [],
    decidedBy: null,
    statusReason: null,
    createdAt: '2031-01-01T10:00:00.000Z',
    updatedAt: '2031-01-01T10:00:00.000Z',
    links: { self: '/v1/approvals/apr_1', decision: '/v1/approvals/apr_1/decision', toolCall: '/v1/tool-calls/call_1' },
    ...more,
  }) as ApprovalRepresentation;

const ATTACK = `"><script>alert(1)</script><img src=x onerror='x'>&amp;`;

describe('the page of an approval', () => {
  it('shows what is asked, of whom, by when, and the digest that is signed', () => {
    const page = approvalPage(approval());
    for (const text of [
      'Refund an order',
      'agent-7 for alice',
      'finance: 1 of 2',
      '2031-01-01T11:00:00.000Z',
      'sha256:consent',
      'amount',
      'refund.create@1.0.0',
    ])
      expect(page).toContain(text);
  });

  it.each([
    'title',
    'description',
    'agentReason',
    'capability',
    'capabilityVersion',
    'risk',
    'effect',
    'digest',
    'decideBy',
    'status',
  ] as const)('escapes the %s', (field) => {
    const page = approvalPage(approval({ [field]: ATTACK } as Partial<ApprovalRepresentation>));
    expect(page).not.toContain('<script');
    expect(page).not.toContain('<img');
    expect(page).toContain(escapeHtml(ATTACK));
  });

  it('escapes whatever people and agents wrote, wherever it stands', () => {
    const page = approvalPage(
      approval({
        arguments: { [ATTACK]: [ATTACK] },
        target: { url: ATTACK },
        requester: { sub: ATTACK, act: ATTACK },
        reasons: [ATTACK],
        needed: [{ group: ATTACK, count: 1, have: 0, notRequester: true }],
      }),
    );
    expect(page).not.toMatch(/<(script|img)/);
  });

  it('has as many tags as it has without any text of others', () => {
    const tags = (page: string): number => page.split('<').length;
    const plain = tags(approvalPage(approval({ agentReason: 'x', arguments: { a: 'x' } })));
    fc.assert(
      fc.property(
        fc.string({ maxLength: 60 }),
        (text) => tags(approvalPage(approval({ title: text, agentReason: text, arguments: { a: text } }))) === plain,
      ),
    );
  });

  it('has no form, no script and no link: reading never decides', () => {
    expect(approvalPage(approval())).not.toMatch(/<(form|script|a|button|input|iframe|object|link)\b/i);
  });

  it('shows long arguments in full and says that they are long', () => {
    const page = approvalPage(approval({ arguments: { command: `${'x'.repeat(5000)} rm -rf /` } }));
    expect(page).toContain('rm -rf /');
    expect(page).toMatch(/Long request: \d+ characters, shown in full/);
  });

  it('says that there are no arguments instead of showing nothing', () => {
    expect(approvalPage(approval({ arguments: {}, argumentsEmpty: true }))).toContain('The request has no arguments.');
  });

  it('marks the words of the agent as untrusted', () => {
    expect(approvalPage(approval({ agentReason: 'please' }))).toMatch(/untrusted\)<\/h2>\s*<pre>please<\/pre>/);
    expect(approvalPage(approval())).not.toContain('untrusted');
  });

  it('names the person alone where no agent acts', () => {
    expect(approvalPage(approval({ requester: { sub: 'alice', act: null } }))).toContain('<td>alice</td>');
  });
});

describe('what a question rests on', () => {
  const observedAt = '2031-01-01T09:59:59.000Z';
  const pageWith = (more: object): string =>
    approvalPage(
      approval({ preconditions: [{ name: 'order_status', title: 'The order is open', observedAt, ...more }] }),
    );

  it.each<[string, object, string]>([
    ['a text in quotes, as text', { value: '<b>open</b>' }, '&quot;&lt;b&gt;open&lt;/b&gt;&quot;'],
    ['a number', { value: 12 }, '>12 (read'],
    ['null', { value: null }, '>null (read'],
    ['that there is none', { absent: true }, 'there is no such value'],
    ['the digest of what is not shown', { digest: 'sha256:long' }, 'sha256:long (read'],
  ])('is a row with its title, its time and %s', (_, more, text) => {
    const page = pageWith(more);
    expect(page).toContain('<th>Rests on: The order is open</th>');
    expect(page).toContain(text);
    expect(page).toContain(observedAt);
  });

  it('has no row where it rests on nothing', () => {
    expect(approvalPage(approval())).not.toContain('Rests on');
  });
});
