import { pointerFrom } from '../../json/json-pointer.js';
import type { JsonObject, JsonValue } from '../../json/json-value.js';
import { refuseField } from './codec-result.js';

export type FieldPath = readonly (string | number)[];

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads known fields of an object, one by one. A field of the wrong type is refused by its own code: `pendingPlanReview` →
 * `pending_plan_review_type`; absence is the default where there is one, and the same refusal where there is none. What is not
 * asked for is not read.
 */
export class FieldReader {
  constructor(
    private readonly fields: Fields,
    readonly path: FieldPath,
  ) {}

  has(name: string): boolean {
    return this.raw(name) !== undefined;
  }

  /** Everything, for a field whose inside is open. */
  whole(): JsonObject {
    return this.fields as JsonObject;
  }

  raw(name: string): unknown {
    return Object.hasOwn(this.fields, name) ? this.fields[name] : undefined;
  }

  text(name: string): string {
    const value = this.raw(name);
    return typeof value === 'string' ? value : this.refuse(name, 'a text');
  }

  textOrNull(name: string): string | null {
    const value = this.raw(name);
    return value === null || typeof value === 'string' ? value : this.refuse(name, 'a text or null');
  }

  /** `{name: text}`, or nothing where the field is absent: to be spread into an object. */
  optionalText<const N extends string>(name: N): { readonly [K in N]?: string } {
    return this.has(name) ? ({ [name]: this.text(name) } as { readonly [K in N]: string }) : {};
  }

  count(name: string, absent?: number): number {
    const value = this.raw(name) ?? absent;
    const isCount = Number.isSafeInteger(value) && (value as number) >= 0;
    return isCount && this.raw(name) !== null ? (value as number) : this.refuse(name, 'a whole number');
  }

  flag(name: string, absent?: boolean): boolean {
    const value = this.has(name) ? this.raw(name) : absent;
    return typeof value === 'boolean' ? value : this.refuse(name, 'true or false');
  }

  json(name: string): JsonValue {
    return this.has(name) ? (this.raw(name) as JsonValue) : this.refuse(name, 'a value');
  }

  object(name: string, absent?: JsonObject): JsonObject {
    const value = this.has(name) ? this.raw(name) : absent;
    return isFields(value) ? (value as JsonObject) : this.refuse(name, 'an object');
  }

  reader(name: string): FieldReader {
    return new FieldReader(this.object(name), [...this.path, name]);
  }

  list(name: string, absent?: readonly unknown[]): readonly unknown[] {
    const value = this.has(name) ? this.raw(name) : absent;
    return Array.isArray(value) ? (value as readonly unknown[]) : this.refuse(name, 'a list');
  }

  items<T>(name: string, read: (item: FieldReader) => T, absent?: readonly unknown[]): T[] {
    return this.list(name, absent).map((item, index) =>
      isFields(item)
        ? read(new FieldReader(item, [...this.path, name, index]))
        : this.refuse(name, 'a list of objects', index),
    );
  }

  texts(name: string): string[] {
    return this.list(name).map((item, index) =>
      typeof item === 'string' ? item : this.refuse(name, 'a list of texts', index),
    );
  }

  refuse(name: string, wanted: string, ...inner: number[]): never {
    const path = pointerFrom([...this.path, name, ...inner]);
    return refuseField({ code: `${snake(name)}_type`, message: `${path} is not ${wanted}.`, path });
  }
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const snake = (name: string): string => name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
