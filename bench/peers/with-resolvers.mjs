/** `Promise.withResolvers` (ECMAScript 2024) for Node 20. */
export function withResolvers() {
  /** @type {{ resolve?: (value: unknown) => void, reject?: (reason: unknown) => void }} */
  const settle = {};
  const promise = new Promise((resolve, reject) => Object.assign(settle, { resolve, reject }));
  return { promise, ...settle };
}
