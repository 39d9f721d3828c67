import type { FieldKind } from '../../src/domain/events/payload-shape.js';
import { SESSION_CATALOGUE, type SessionEventDefinition } from '../../src/domain/session/session-catalogue.js';

const BEGIN =
  '<!-- events of a harness: written from src/domain/session/session-catalogue.ts, UPDATE_DOCS=1 npm run test:arch -->';
const END = '<!-- end -->';

/** A page with the events that a harness may append as the catalogue says them. Throws where the page has no place for them. */
export function withHarnessEvents(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error('the page has no place for the events of a harness');
  return `${before}${BEGIN}\n\n${harnessEvents()}\n${END}${after}`;
}

function harnessEvents(): string {
  const definitions: readonly [string, SessionEventDefinition][] = Object.entries(SESSION_CATALOGUE);
  const rows = definitions
    .filter(([, { producers }]) => producers.includes('harness'))
    .map(([type, { needs, shape }]) => {
      const fields = Object.entries(shape).map(([name, kind]) => `\`${name}\` ${kindOf(kind)}`);
      return `| \`${type}\` | ${needs.map((ref) => `\`${ref}\``).join(' ')} | ${fields.join(', ')} |\n`;
    });
  return `| \`type\` | needs | \`payload\` (\`?\`: may be left out) |\n| --- | --- | --- |\n${rows.join('')}`;
}

const kindOf = (kind: FieldKind): string => (typeof kind === 'string' ? kind : kind.join(' or '));
