import { isJsonObject, type JsonValue } from '../json/json-value.js';
import type { Principal } from '../principal.js';

/**
 * What a fold reads out of the open fields of a payload (`text`, `object`, `list`). A value of another form was never
 * written by us: a plain `Error` stops the work. No message holds the value.
 */

/** One of the words, or an error. */
export function readWord<const W extends string>(words: readonly W[], value: string): W {
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) throw new Error(`not one of the words ${words.join(', ')}`);
  return word;
}

/** `{sub, act?}` of principal.ts, without anything else the object may hold. */
export function readPrincipal(value: JsonValue): Principal {
  if (!isJsonObject(value) || typeof value['sub'] !== 'string') throw new Error('a principal has a sub');
  const act = value['act'];
  if (act === undefined) return { sub: value['sub'] };
  if (typeof act !== 'string') throw new Error('the act of a principal is a subject');
  return { sub: value['sub'], act };
}

export function readTexts(list: readonly JsonValue[]): readonly string[] {
  return list.map((item) => {
    if (typeof item !== 'string') throw new Error('the list holds something else than texts');
    return item;
  });
}
