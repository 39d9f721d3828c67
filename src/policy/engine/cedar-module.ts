import { setFlagsFromString } from 'node:v8';
import type * as CedarWasm from '@cedar-policy/cedar-wasm/nodejs';

export type Cedar = typeof CedarWasm;

/**
 * Node 20 aborts now and then where its compiler inlines calls from JavaScript into WebAssembly, so that is switched off before
 * the engine is first loaded. The flag is the process's, for all threads; later releases do not have the fault.
 */
export function preventInliningAborts(): void {
  if (process.versions.node.startsWith('20.')) setFlagsFromString('--no-turbo-inline-js-wasm-calls');
}

/** One WebAssembly instance per thread; loading costs about 100 ms. */
export async function loadCedar(): Promise<Cedar> {
  preventInliningAborts();
  return import('@cedar-policy/cedar-wasm/nodejs');
}

/** Recorded with every decision, so that it can be replayed by the same engine. */
export function engineVersionOf(cedar: Cedar): string {
  return `cedar/${cedar.getCedarVersion()}`;
}
