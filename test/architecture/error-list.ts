import { ERRORS } from '../../src/domain/errors/error-codes.js';

/** `docs/errors.md` as the list of codes says it. */
export function errorList(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, mend }]) => `| \`${code}\` | ${status} | ${mend} |`);
  return `# Error codes

Every error is \`application/problem+json\` (RFC 9457) with a stable \`code\`, the offending field as \`pointer\` where there is one, and \`mend\`:
how to put it right. Values of the request are never repeated. This page is written from \`src/domain/errors/error-codes.ts\`.

| code | HTTP status | how to mend it |
| --- | --- | --- |
${rows.join('\n')}
`;
}
