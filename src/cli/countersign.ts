#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { processEnvironment } from '../config/environment.js';
import { runCommandLine } from './command-line.js';
import { SUBCOMMANDS } from './subcommands.js';

// Node 20 aborts now and then while it inlines JS-to-wasm calls; the flag must be set before wasm is loaded.
setFlagsFromString('--no-turbo-inline-js-wasm-calls');

const code = await runCommandLine(process.argv.slice(2), SUBCOMMANDS, {
  environment: processEnvironment(),
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
});
// What was written is out before the process ends, also into a pipe; a server has nothing left that should keep it alive.
process.stdout.write('', () => process.exit(code));
