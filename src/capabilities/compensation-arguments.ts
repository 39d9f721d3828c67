import { CountersignError } from '../domain/errors/countersign-error.js';
import { valueAt } from '../domain/json/json-pointer.js';
import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import type { Compensation, CompensationArgument } from './manifest.js';

/** What is on record of the call that is to be undone. */
export interface CompensatedRecord {
  readonly toolCallId: string;
  /** Effective arguments, as they were sent. */
  readonly arguments: JsonObject;
  /** The recorded result; null when there is none. */
  readonly result: JsonValue;
  readonly downstreamKey: string;
  readonly externalRequestId: string | null;
}

/**
 * The arguments of the compensating call, taken from the record alone. Agents choose none of them.
 *
 * @throws CountersignError `compensation_not_possible` naming the argument for which the record holds nothing
 */
export function compensationArguments(compensation: Compensation, record: CompensatedRecord): JsonObject {
  return Object.fromEntries(
    Object.entries(compensation.arguments).map(([name, source]) => {
      const value = valueOf(source, record);
      if (value !== undefined && value !== null) return [name, value];
      throw new CountersignError('compensation_not_possible', `the record of the call holds nothing for ${name}`, {
        toolCallId: record.toolCallId,
      });
    }),
  );
}

function valueOf(source: CompensationArgument, record: CompensatedRecord): JsonValue | undefined {
  if ('value' in source) return source.value;
  switch (source.from) {
    case 'arguments':
    case 'result':
      return valueAt(record[source.from], source.at);
    case 'downstreamKey':
    case 'externalRequestId':
    case 'toolCallId':
      return record[source.from];
  }
}
