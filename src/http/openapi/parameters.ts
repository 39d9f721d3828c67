import { z } from 'zod';
import { commandId, id } from '../../client/contract/fields.js';
import { secretName } from '../../client/contract/secrets.js';
import { sinkName } from '../../client/contract/outbox.js';
import { policyRevision } from '../../client/contract/policies.js';
import type { Components, SchemaObject } from './components.js';
import type { Operation } from './operation.js';

/** Parameters of paths, by name. */
const IN_PATH: Readonly<Record<string, { readonly means: string; readonly schema: z.ZodType }>> = {
  toolCallId: { means: 'Id of a tool call.', schema: id },
  leaseId: { means: 'Id of a lease.', schema: id },
  approvalId: { means: 'Id of an approval.', schema: id },
  grantId: { means: 'Id of a standing grant.', schema: id },
  delegationId: { means: 'Id of a standing delegation.', schema: id },
  planReviewId: { means: 'Id of a plan review.', schema: id },
  runId: { means: 'Id of a run.', schema: id },
  sessionId: { means: 'Id of a session, as its caller named it.', schema: z.string().min(1).max(200) },
  turnId: { means: 'Id of a turn.', schema: id },
  subagentId: { means: 'Id of a sub-agent.', schema: id },
  commandId: { means: 'Id of a command: the one its issuer gave, or was given.', schema: commandId.unwrap() },
  name: { means: 'Name of a sink of the settings.', schema: sinkName },
  revision: { means: 'Revision of a policy set.', schema: policyRevision },
  activationId: { means: 'Id of a proposal of a policy set.', schema: id },
  secret: { means: 'Name of a secret.', schema: secretName },
  capability: { means: 'Name of a capability.', schema: z.string().min(1).max(64) },
  file: { means: 'A file of the browser.', schema: z.string() },
};

/** The parameters of an operation: of the path, of the query, headers. */
export function parametersOf(path: string, operation: Operation, components: Components): SchemaObject[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const known = IN_PATH[name];
    if (known === undefined) throw new Error(`say in parameters.ts what {${name}} of a path is`);
    const { means, schema } = known;
    return { name, in: 'path', required: true, description: means, schema: components.schema(schema) };
  });
  const inHeaders = (operation.headers ?? []).map(({ name, means, schema, example }) => ({
    name,
    in: 'header',
    description: means,
    schema: components.schema(schema),
    example,
  }));
  return [...inPath, ...queryParameters(operation, components), ...inHeaders];
}

function queryParameters({ query }: Operation, components: Components): SchemaObject[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = components.schema(query) as {
    readonly properties?: Readonly<Record<string, SchemaObject>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(required.includes(name) ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    schema,
  }));
}
