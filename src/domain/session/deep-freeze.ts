/** Freezes plain data through and through; what is frozen at the top counts as done. Gives the same value. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFreeze(inner);
  return value;
}

/** A copy of plain data that shares nothing. */
export function deepCopy<T>(value: T): T {
  if (Array.isArray(value)) return (value as readonly unknown[]).map(deepCopy) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, deepCopy(inner)])) as T;
}
