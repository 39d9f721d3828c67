import type { JsonObject, JsonValue } from './json-value.js';

/** In `replaceAt` this segment stands for every item of an array and every key of an object. */
export const ANY_SEGMENT = '*';

/**
 * RFC 6901 text of a path of keys and indexes: `['a/b', 0]` is `/a~1b/0`, `[]` is the empty pointer of the whole value.
 */
export function pointerFrom(path: readonly (string | number)[]): string {
  let pointer = '';
  for (const segment of path) {
    pointer += typeof segment === 'number' ? `/${segment}` : `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  }
  return pointer;
}

/** The unescaped segments of an RFC 6901 pointer, `[]` for the whole value, or null when the text is not a pointer. */
export function parsePointer(pointer: string): readonly string[] | null {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return null;
  const segments = pointer.slice(1).split('/');
  if (!pointer.includes('~')) return segments;
  return segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * The value a pointer names (RFC 6901 section 4), undefined when there is none. `*` is an ordinary key here, and `-`
 * names nothing. Throws a plain `Error` when the text is not a pointer.
 */
export function valueAt(value: JsonValue, pointer: string): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const segment of segmentsOf(pointer)) current = childAt(current, segment);
  return current;
}

/**
 * A copy of `value` in which every place that `pointers` name holds `replace(old value, its pointer)`. Untouched
 * branches are shared with the original, which never changes; when nothing matches, the original itself is returned.
 *
 * A segment `*` matches every item and every key (a key that really is `*` is therefore matched together with its
 * siblings). Pointers that name nothing are passed over. Where one pointer names a place inside another, the outer one
 * wins, whatever their order, and `replace` always sees original values. Throws a plain `Error` when a text is not a
 * pointer.
 */
export function replaceAt(
  value: JsonValue,
  pointers: readonly string[],
  replace: (old: JsonValue, pointer: string) => JsonValue,
): JsonValue {
  if (pointers.length === 0) return value;
  return replaceBelow(value, pointers.map(segmentsOf), [], replace);
}

type Route = readonly string[];

/** `routes` are what is left of the pointers that lead here; there is at least one. */
function replaceBelow(
  value: JsonValue,
  routes: readonly Route[],
  path: readonly string[],
  replace: (old: JsonValue, pointer: string) => JsonValue,
): JsonValue {
  if (routes.some((route) => route.length === 0)) return replace(value, pointerFrom(path));
  if (typeof value !== 'object' || value === null) return value;
  const replaceChild = (key: string, child: JsonValue): JsonValue => {
    const through = routes.filter(([head]) => head === key || head === ANY_SEGMENT);
    if (through.length === 0) return child;
    const rest = through.map((route) => route.slice(1));
    return replaceBelow(child, rest, [...path, key], replace);
  };
  return isArray(value) ? replaceItems(value, replaceChild) : replaceMembers(value, replaceChild);
}

function replaceItems(
  items: readonly JsonValue[],
  replaceChild: (key: string, child: JsonValue) => JsonValue,
): JsonValue {
  const replaced = items.map((item, index) => replaceChild(String(index), item));
  return replaced.some((item, index) => item !== items[index]) ? replaced : items;
}

function replaceMembers(object: JsonObject, replaceChild: (key: string, child: JsonValue) => JsonValue): JsonValue {
  const keys = Object.keys(object);
  const replaced = keys.map((key) => replaceChild(key, object[key] as JsonValue));
  if (keys.every((key, index) => replaced[index] === object[key])) return object;
  // defines properties instead of assigning them, so no key can reach a prototype
  return Object.fromEntries(keys.map((key, index) => [key, replaced[index] as JsonValue]));
}

function childAt(value: JsonValue | undefined, segment: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (isArray(value)) return /^(?:0|[1-9][0-9]*)$/.test(segment) ? value[Number(segment)] : undefined;
  return Object.hasOwn(value, segment) ? value[segment] : undefined;
}

function segmentsOf(pointer: string): readonly string[] {
  const segments = parsePointer(pointer);
  if (segments === null) throw new Error('not a JSON pointer (RFC 6901)');
  return segments;
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
