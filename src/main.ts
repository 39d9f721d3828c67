import 'reflect-metadata';
import { setFlagsFromString } from 'node:v8';
import { loadSettings } from './config/load-settings.js';
import { processEnvironment, settingsFile } from './config/environment.js';
import { CountersignError } from './domain/errors/countersign-error.js';
import { PinoLogger } from './system/logger.js';

// Node 20 aborts now and then while it inlines JS-to-wasm calls; the flag must be set before wasm is loaded.
setFlagsFromString('--no-turbo-inline-js-wasm-calls');

const USAGE = `usage: countersign start
  COUNTERSIGN_CONFIG names the settings file; config/default.yaml documents every setting.
`;

async function main(command: string | undefined): Promise<void> {
  if (command !== 'start') {
    process.stderr.write(USAGE);
    process.exitCode = 2;
    return;
  }
  const environment = processEnvironment();
  const settings = loadSettings({ file: settingsFile(environment), environment });
  const logger = new PinoLogger(settings.log.level);
  // Before anything is opened: a signal that comes while the server starts must stop it too, and not just end the process.
  const stopped = new Promise<string>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal));
  });
  const { startServer } = await import('./server.js');
  const server = await startServer(settings, logger);
  logger.info('listening', { url: server.url });
  logger.info('stopping', { signal: await stopped });
  await server.stop();
  process.exit(0);
}

main(process.argv[2]).catch((error: unknown) => {
  const text =
    error instanceof CountersignError ? `${error.code}: ${error.message}` : String((error as Error)?.stack ?? error);
  process.stderr.write(`${text}\n`);
  process.exit(1);
});
