import { settingsFile } from '../config/environment.js';
import { loadSettings } from '../config/load-settings.js';
import { PinoLogger } from '../system/logger.js';
import { CONFIG_OPTION, type Subcommand } from './command.js';
import { serve } from './serve.js';

export const START: Subcommand = {
  summary: 'run the server',
  details: `Makes the database of an empty data directory, refuses one of an older schema. Logs JSON lines to stdout.
SIGTERM or SIGINT: admits nothing new, lets what is on the wire end within shutdownGraceMs, records, exits with 0.
A second signal, a second or more later, ends the grace at once: what is on the wire is recorded as unknown.`,
  options: { config: CONFIG_OPTION },
  run: async (given, { environment }) => {
    const settings = loadSettings({ file: given.text('config') ?? settingsFile(environment), environment });
    return serve(settings, new PinoLogger(settings.log.level), () => {});
  },
};
