import type { EventEnvelope } from '../../../domain/events/envelope.js';
import { commitmentText, leafHash, leafText } from '../leaf.js';

/** Why a reader of the bundle does not get a payload: only its commitment is shown. */
export const WITHHELD_REASONS = ['erased', 'not_permitted', 'redacted'] as const;
export type WithheldReason = (typeof WITHHELD_REASONS)[number];

/** One entry of the log as it goes into a bundle. */
export type BundleEntry =
  /** Of another tenant: only that there is an entry. */
  | { readonly kind: 'hidden'; readonly position: number; readonly leafHash: Uint8Array }
  | {
      readonly kind: 'withheld';
      readonly position: number;
      readonly envelope: EventEnvelope;
      readonly commitment: Uint8Array;
      readonly reason: WithheldReason;
    }
  | {
      readonly kind: 'open';
      readonly position: number;
      readonly envelope: EventEnvelope;
      readonly commitment: Uint8Array;
      readonly salt: Uint8Array;
      /** As it was sealed: canonical JSON, byte for byte. */
      readonly payloadText: string;
    };

/** The line of `entries.ndjson` with its newline: canonical JSON, members in order. */
export function entryLine(entry: BundleEntry): string {
  switch (entry.kind) {
    case 'hidden':
      return `{"leafHash":"${commitmentText(entry.leafHash)}","position":${entry.position}}\n`;
    case 'withheld':
      return `{${leafMembers(entry)},"position":${entry.position},"withheld":"${entry.reason}"}\n`;
    case 'open':
      return `{${leafMembers(entry)},"payload":${entry.payloadText},"position":${entry.position},"salt":"${hexOf(entry.salt)}"}\n`;
  }
}

function leafMembers({ envelope, commitment }: Exclude<BundleEntry, { readonly kind: 'hidden' }>): string {
  const leaf = leafText(envelope, commitment);
  return `"leaf":${leaf},"leafHash":"${commitmentText(leafHash(envelope, commitment))}"`;
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
}
