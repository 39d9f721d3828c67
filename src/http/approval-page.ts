import type { ApprovalRepresentation } from '../client/contract/approvals.js';
import { escapeHtml } from '../domain/text/escape-text.js';

/** The approval as plain escaped HTML for a browser. No form, no script, no link that acts. */
export function approvalPage(approval: ApprovalRepresentation): string {
  const text = JSON.stringify(approval.arguments, null, 2);
  const facts: readonly (readonly [string, string])[] = [
    ['Status', approval.status],
    ['Capability', `${approval.capability}@${approval.capabilityVersion}`],
    ['What it does', approval.description],
    ['Risk and effect', `${approval.risk}, ${approval.effect}`],
    [
      'Requested by',
      approval.requester.act === null
        ? approval.requester.sub
        : `${approval.requester.act} for ${approval.requester.sub}`,
    ],
    ['Why people are asked', approval.reasons.join('; ')],
    ['Needed', approval.needed.map(({ group, count, have }) => `${group}: ${have} of ${count}`).join('; ')],
    ...(approval.preconditions ?? []).map(restsOn),
    ['Decide before', approval.decideBy],
    ['Sends to', JSON.stringify(approval.target)],
    ['Digest', approval.digest],
  ];
  const rows = facts
    .map(([name, value]) => `<tr><th>${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`)
    .join('\n');
  const note = approval.argumentsEmpty
    ? '<p><strong>The request has no arguments.</strong></p>'
    : approval.argumentsLong
      ? `<p><strong>Long request: ${text.length} characters, shown in full.</strong></p>`
      : '';
  const words =
    approval.agentReason === null
      ? ''
      : `<h2>The agent's own words (untrusted)</h2>\n<pre>${escapeHtml(approval.agentReason)}</pre>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="robots" content="noindex">
<title>${escapeHtml(approval.title)}</title>
<style>body{font-family:system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}th{text-align:left;vertical-align:top;padding-right:1rem}pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid #999;padding:1rem}</style>
</head>
<body>
<h1>${escapeHtml(approval.title)}</h1>
<table>
${rows}
</table>
<h2>What will be sent</h2>
${note}
<pre>${escapeHtml(text)}</pre>
${words}
</body>
</html>
`;
}

type Shown = NonNullable<ApprovalRepresentation['preconditions']>[number];

/** One row per precondition: what it is called, how it was, and when that was. */
function restsOn({ title, value, absent, digest, observedAt }: Shown): readonly [string, string] {
  const seen =
    absent === true ? 'there is no such value' : value === undefined ? (digest ?? '') : JSON.stringify(value);
  return [`Rests on: ${title}`, `${seen} (read ${observedAt})`];
}
