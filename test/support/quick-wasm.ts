/**
 * For processes that a test starts and soon ends: the policy engine is compiled once and quickly, not a second time for
 * speed, which takes a third of the CPU time of a start.
 */
export const QUICK_WASM: string[] = ['--liftoff-only', '--wasm-lazy-compilation'];
