import { settingsFile } from '../config/environment.js';
import { loadSettings } from '../config/load-settings.js';
import { PinoLogger } from '../system/logger.js';
import { CONFIG_OPTION, type Option, type Subcommand } from './command.js';
import { serve } from './serve.js';

const TAKE_OVER: Option = {
  type: 'boolean',
  about: 'start although another process has the data directory, and end its work',
};

export const START: Subcommand = {
  summary: 'run the server',
  details: `Makes the database of an empty data directory, refuses one of an older schema. Logs JSON lines to stdout.
SIGTERM or SIGINT: admits nothing new, lets what is on the wire end within shutdownGraceMs, records, exits with 0.
A second signal, a second or more later, ends the grace at once: what is on the wire is recorded as unknown.
--take-over is for a process that hangs: it cannot record or send anything from then on, and exits with 4 when it wakes.`,
  options: { config: CONFIG_OPTION, 'take-over': TAKE_OVER },
  run: async (given, { environment }) => {
    const settings = loadSettings({ file: given.text('config') ?? settingsFile(environment), environment });
    const takeOver = given.flag('take-over');
    return serve(settings, new PinoLogger(settings.log.level), { takeOver });
  },
};
