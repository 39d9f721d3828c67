import { describe, expect, it, jest } from '@jest/globals';

const setFlagsFromString = jest.fn();
jest.unstable_mockModule('node:v8', () => ({ setFlagsFromString }));
const { preventInliningAborts } = await import('./cedar-module.js');

function onNode(version: string, run: () => void): void {
  const real = process.versions;
  Object.defineProperty(process, 'versions', { value: { ...real, node: version }, configurable: true });
  try {
    run();
  } finally {
    Object.defineProperty(process, 'versions', { value: real, configurable: true });
  }
}

describe('before the engine is loaded', () => {
  it.each([
    ['20.19.0', ['--no-turbo-inline-js-wasm-calls']],
    ['22.1.0', undefined],
    ['24.0.0', undefined],
  ])('on Node %s inlining of calls into WebAssembly is off where it aborts the process', (version, flags) => {
    setFlagsFromString.mockClear();
    onNode(version, preventInliningAborts);
    expect(setFlagsFromString.mock.calls[0]).toEqual(flags);
  });
});
