/** Writes the capabilities and policies of the bench into a folder: the gated capability, and many beside it. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** Two global policies and eight about the gated capability stand in policies/; ten for each of 99 others make 1,000. */
const OTHER_CAPABILITIES = 99;
const POLICIES_PER_OTHER = 10;

/**
 * @param {string} dir is created
 * @param {{ from?: string | undefined, others?: number | undefined }} [more] `from`: folder with the gated capability and the ten policies of its
 *   shard; `others`: capabilities beside it
 * @returns {{ capabilitiesDir: string, policiesDir: string, capabilities: number, policies: number }}
 */
export function writeDefinitions(dir, { from = HERE, others = OTHER_CAPABILITIES } = {}) {
  const capabilitiesDir = join(dir, 'capabilities');
  const policiesDir = join(dir, 'policies');
  for (const [folder, to] of /** @type {const} */ ([
    ['capabilities', capabilitiesDir],
    ['policies', policiesDir],
  ])) {
    mkdirSync(to, { recursive: true });
    cpSync(join(from, folder), to, { recursive: true });
  }
  for (let index = 1; index <= others; index += 1) {
    const name = `other.action_${String(index).padStart(2, '0')}`;
    writeFileSync(join(capabilitiesDir, `${name}.yaml`), manifestOf(name));
    writeFileSync(join(policiesDir, `${name}.cedar`), policiesOf(name));
  }
  return {
    capabilitiesDir,
    policiesDir,
    capabilities: 1 + others,
    policies: 10 + others * POLICIES_PER_OTHER,
  };
}

/** @param {string} name */
const manifestOf = (name) => `name: ${name}
version: 1.0.0
title: Another capability
description: Stands beside the one that is called, so that the set of policies has the size of a real one.
risk: medium
effect: probeable
inputSchema:
  type: object
  additionalProperties: false
  required: [subjectId, amount]
  properties:
    subjectId: { type: string, pattern: '^[A-Za-z0-9_-]{1,64}$' }
    amount: { type: integer, minimum: 0, maximum: 1000000 }
    region: { type: string, minLength: 1, maxLength: 32 }
connector:
  kind: http
  baseUrl: upstream:bank
  allowAddresses: [loopback]
  credential: bank
  request:
    method: POST
    path: /v1/others
    body: '{args}'
idempotency:
  header: Idempotency-Key
  keyRetention: 24h
probe:
  strategy: query_by_idempotency_key
  request:
    method: GET
    path: /v1/others
    query: { idempotencyKey: '{downstreamKey}' }
  foundAt: /data
  visibilityDelay: 1s
  absenceIsProof: true
`;

/** One permit, then forbids of which every third can be lifted. @param {string} name */
function policiesOf(name) {
  const permit = `@id("${name}.permit")
permit (principal, action == Action::"${name}", resource)
when { principal.roles.contains("harness") };
`;
  const forbids = Array.from({ length: POLICIES_PER_OTHER - 1 }, (_, index) => forbidOf(name, index + 1));
  return [permit, ...forbids].join('\n');
}

/** @param {string} name @param {number} index */
function forbidOf(name, index) {
  const asks = index % 3 === 0;
  const annotations = asks
    ? '\n@on_deny("requires_confirmation")\n@approvers("bench-lead")\n@not_requester("true")'
    : '';
  const unless = asks
    ? '\nunless { context.approvals["bench-lead"].count >= 1 && !context.approvals["bench-lead"].includesRequester }'
    : '';
  return `@id("${name}.limit-${index}")${annotations}
@reason("Region ${index} has a limit.")
forbid (principal, action == Action::"${name}", resource)
when { context.input.amount > ${index * 1000} && context.input has region && context.input.region == "region-${index}" }${unless};
`;
}
