import { createHmac } from 'node:crypto';
import { canonicalJson } from '../domain/json/canonical-json.js';
import { pointerFrom, replaceAt } from '../domain/json/json-pointer.js';
import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import { mask } from '../domain/redaction/redact.js';
import type { Manifest } from './manifest.js';
import { isSensitiveName, looksLikeCredential } from './sensitive-names.js';

/**
 * RFC 6901 pointers of everything in the arguments that is a secret by its name or its form, at any depth, whether the manifest lists it or
 * not. Where a whole object or list stands under such a name, the pointer is of the whole. Empty texts, true, false and null are no secrets.
 */
export function sensitivePointers(args: JsonObject): readonly string[] {
  const found: string[] = [];
  collect(args, [], found);
  return found;
}

/** `path` is one list for the whole walk: a step adds to it and takes away again. */
function collect(value: JsonValue, path: (string | number)[], found: string[]): void {
  if (typeof value === 'string') {
    if (looksLikeCredential(value)) found.push(pointerFrom(path));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    (value as readonly JsonValue[]).forEach((item, index) => {
      path.push(index);
      collect(item, path, found);
      path.pop();
    });
    return;
  }
  for (const name of Object.keys(value)) {
    const child = (value as JsonObject)[name] as JsonValue;
    path.push(name);
    if (isSensitiveName(name) && canHoldSecret(child)) found.push(pointerFrom(path));
    else collect(child, path, found);
    path.pop();
  }
}

function canHoldSecret(value: JsonValue): boolean {
  return value !== null && value !== '' && typeof value !== 'boolean';
}

/** Everything the manifest lists under `redact` and everything that is a secret by its name or form. */
export function redactedPointers(manifest: Manifest, args: JsonObject): readonly string[] {
  return [...new Set([...manifest.redact, ...sensitivePointers(args)])];
}

/**
 * The arguments as every view, log and approver sees them: what the manifest lists under `redact` and what is a secret by its name is
 * `[redacted:xxxxxxxx]`, the first eight hexadecimal digits of SHA-256 over the canonical value. That lets two calls be compared; of a value
 * with few possibilities (a PIN) it also lets somebody who has the digits try them all, which a `key` of the installation prevents (HMAC-SHA-256).
 */
export function redactArguments(manifest: Manifest, args: JsonObject, key?: Uint8Array): JsonObject {
  const replace = key === undefined ? mask : (value: JsonValue): string => keyedMask(value, key);
  return replaceAt(args, redactedPointers(manifest, args), replace) as JsonObject;
}

function keyedMask(value: JsonValue, key: Uint8Array): string {
  return `[redacted:${createHmac('sha256', key).update(canonicalJson(value)).digest('hex').slice(0, 8)}]`;
}

/**
 * The arguments with the same places masked, but leaf by leaf: a template that names a field inside a redacted object still finds it, masked.
 */
export function redactLeaves(manifest: Manifest, args: JsonObject): JsonObject {
  return replaceAt(args, redactedPointers(manifest, args), maskedLeaves) as JsonObject;
}

function maskedLeaves(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return mask(value);
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(maskedLeaves);
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, maskedLeaves(child)]));
}
