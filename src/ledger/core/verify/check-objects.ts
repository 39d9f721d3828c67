import { sha256Digest } from '../../../domain/digests/digests.js';
import type { JsonObject } from '../../../domain/json/json-value.js';
import { OBJECT_PART, objectPart, type BundleManifest } from '../bundle/bundle-format.js';
import type { BundleParts } from '../bundle/container.js';
import { placeOf } from './check-streams.js';
import type { EntryCheck, OpenEntry } from './entry.js';
import type { FindingCode, Findings } from './findings.js';
import { asText, isDigest } from './part-shapes.js';
import { canonicalValue } from './read-parts.js';

/** A decision that was made without any policy set names none, and denies. */
const NO_SET = 'none';

/**
 * What events name by digest is in the bundle, is what its name says, and nothing else is: the policy set and schema of every decision,
 * what every approver was shown.
 */
export function objectCheck(parts: BundleParts, manifest: BundleManifest, findings: Findings): EntryCheck {
  const referenced = new Set(manifest.snapshots.map(({ digest }) => digest));
  const reported = new Set<string>();

  const need = (code: FindingCode, digest: string, entry: OpenEntry): void => {
    referenced.add(digest);
    if (parts.has(objectPart(digest)) || reported.has(`${code} ${digest}`)) return;
    reported.add(`${code} ${digest}`);
    findings.add(code, `The bundle lacks ${digest}, which this entry refers to.`, placeOf(entry));
  };

  return {
    see(entry) {
      if (entry.kind !== 'open') return;
      const { payload } = entry;
      for (const value of Object.values(payload)) if (isDigest(value)) referenced.add(value);
      for (const { code, digest } of needs(entry.envelope.eventType, payload)) need(code, digest, entry);
    },
    end() {
      for (const { digest } of manifest.snapshots) {
        if (parts.has(objectPart(digest))) continue;
        findings.add('object_missing', 'The manifest names an object that is not there.', { part: objectPart(digest) });
      }
      for (const [part, content] of parts) checkObject(part, content, referenced, findings);
    },
  };
}

interface Need {
  readonly code: FindingCode;
  readonly digest: string;
}

function needs(eventType: string, payload: JsonObject): readonly Need[] {
  if (eventType === 'approval.required') return [{ code: 'object_missing', digest: asText(payload['shownDigest']) }];
  if (eventType !== 'policy.decided') return [];
  const { policyRevision, schemaDigest, outcome } = payload;
  if (policyRevision === NO_SET && outcome === 'deny') return [];
  return [
    { code: 'policy_set_missing', digest: asText(policyRevision) },
    { code: 'policy_schema_missing', digest: asText(schemaDigest) },
  ];
}

function checkObject(part: string, content: Uint8Array, referenced: ReadonlySet<string>, findings: Findings): void {
  const name = OBJECT_PART.exec(part)?.[1];
  if (name === undefined) return;
  const digest = `sha256:${name}`;
  if (sha256Digest(content) !== digest)
    findings.add('object_differs', 'The object is not what its name says.', { part });
  else if (canonicalValue(content) === undefined) {
    findings.add('part_malformed', 'The object is not canonical JSON.', { part });
  }
  if (!referenced.has(digest)) findings.add('object_unreferenced', 'Nothing refers to this object.', { part });
}
