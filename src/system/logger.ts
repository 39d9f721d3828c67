import { pino, type DestinationStream } from 'pino';
import { callTraceIds } from './tracing/trace-context.js';

/** What a log line may carry: ids, codes, counts, durations. Never arguments, results, tokens or secrets. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug';

/** JSON lines for operators. Messages are constants in the code; what varies goes into fields. */
export abstract class Logger {
  abstract error(message: string, fields?: LogFields): void;
  abstract warn(message: string, fields?: LogFields): void;
  abstract info(message: string, fields?: LogFields): void;
  abstract debug(message: string, fields?: LogFields): void;

  /** Whether a line of this level is written: for whoever would have to do something for it. */
  isOn(_level: LogLevel): boolean {
    return false;
  }
}

/** Field values longer than this are cut: a field is an id or a code, and nothing long belongs into a log. */
const FIELD_CHARACTERS_MAX = 256;

export class PinoLogger extends Logger {
  private readonly pino;

  /** A line about a tool call gets the id of its trace; `traceIdOf` says which that is. */
  traceIdOf: (toolCallId: string) => string = (toolCallId) => callTraceIds(toolCallId).traceId;

  constructor(level: LogLevel, destination?: DestinationStream) {
    super();
    const options = { level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` };
    this.pino = destination === undefined ? pino(options) : pino(options, destination);
  }

  override error(message: string, fields: LogFields = {}): void {
    if (this.isOn('error')) this.pino.error(this.complete(fields), message);
  }

  override warn(message: string, fields: LogFields = {}): void {
    if (this.isOn('warn')) this.pino.warn(this.complete(fields), message);
  }

  override info(message: string, fields: LogFields = {}): void {
    if (this.isOn('info')) this.pino.info(this.complete(fields), message);
  }

  override debug(message: string, fields: LogFields = {}): void {
    if (this.isOn('debug')) this.pino.debug(this.complete(fields), message);
  }

  override isOn(level: LogLevel): boolean {
    return this.pino.isLevelEnabled(level);
  }

  private complete(fields: LogFields): LogFields {
    const { toolCallId } = fields;
    return bounded(typeof toolCallId === 'string' ? { traceId: this.traceIdOf(toolCallId), ...fields } : fields);
  }
}

/** Discards everything. */
export class SilentLogger extends Logger {
  override error(): void {}
  override warn(): void {}
  override info(): void {}
  override debug(): void {}
}

/** The class name of a thrown value: texts of foreign errors may repeat data, their names do not. */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code: unknown = (error as { code?: unknown }).code;
  return typeof code === 'string' ? `${error.name}:${code}` : error.name;
}

function bounded(fields: LogFields): LogFields {
  const out: Record<string, string | number | boolean | null | undefined> = {};
  for (const [name, value] of Object.entries(fields)) {
    out[name] =
      typeof value === 'string' && value.length > FIELD_CHARACTERS_MAX
        ? `${value.slice(0, FIELD_CHARACTERS_MAX)}…`
        : value;
  }
  return out;
}
