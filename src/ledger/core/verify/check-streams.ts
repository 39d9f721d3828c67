import { PARTS, type BundleScope } from '../bundle/bundle-format.js';
import type { EntryCheck, VisibleEntry } from './entry.js';
import type { Findings } from './findings.js';

export function placeOf({ position, envelope }: VisibleEntry): { part: string; position: number; eventId: string } {
  return { part: PARTS.entries, position, eventId: envelope.eventId };
}

/** Every stream is whole: versions go up by one, from 1 unless the range begins later. */
export function streamCheck(scope: BundleScope, findings: Findings): EntryCheck {
  const versions = new Map<string, number>();
  const beginsLater = scope.kind === 'range' && scope.from > 0;
  return {
    see(entry) {
      if (entry.kind === 'hidden') return;
      const { streamKind, streamId, version } = entry.envelope;
      const stream = `${streamKind}/${streamId}`;
      const last = versions.get(stream);
      const isNext = last === undefined ? beginsLater || version === 1 : version === last + 1;
      if (!isNext) findings.add('stream_gap', `The stream ${stream} is not whole before this entry.`, placeOf(entry));
      versions.set(stream, version);
    },
    end() {},
  };
}

/** Whose events concern the whole installation. */
const INSTALLATION = '*';

/** Nothing of another tenant is shown in a bundle for one; what concerns the installation may be. */
export function tenantCheck(tenant: string | null, findings: Findings): EntryCheck {
  return {
    see(entry) {
      if (entry.kind === 'hidden' || tenant === null) return;
      if (entry.envelope.tenant === tenant || entry.envelope.tenant === INSTALLATION) return;
      findings.add('tenant_differs', 'The entry is of another tenant than the bundle.', placeOf(entry));
    },
    end() {},
  };
}
