/** A naive retrying client as the target of a chaos run: what the run must find fault with. */
import { fileURLToPath } from 'node:url';
import { launch } from './programs.mjs';

const PROGRAM = fileURLToPath(new URL('./naive-server.mjs', import.meta.url));

/** @param {string} toolUrl @returns {import('./proxy-target.mjs').Target} */
export function naiveTarget(toolUrl) {
  let url = '';
  return {
    launch: () => {
      const program = launch([PROGRAM], { TOOL_URL: toolUrl });
      program.ready.then(
        (address) => (url = address),
        () => undefined,
      );
      return program;
    },
    tokens: { harness: '', lead: '' },
    crashAt: () => {},
    records: async () => /** @type {import('./proxy-target.mjs').CallRecord[]} */ (await (await fetch(url)).json()),
    inFlight: () => [],
    brokenRecords: () => [],
  };
}
