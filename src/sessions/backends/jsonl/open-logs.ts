import { CountersignError } from '../../../domain/errors/countersign-error.js';
import type { SessionKey } from '../../../domain/session/session-key.js';
import { logPath } from './log-path.js';
import { SessionLog, type LogSettings } from './session-log.js';

/** Logs whose end is remembered. One that is forgotten is read again before it is written to. */
const KNOWN_MAX = 4_096;

/** The logs in use: calls about one file one after the other, and files that nobody uses closed. */
export class OpenLogs {
  /** The one used longest ago first. */
  private readonly logs = new Map<string, SessionLog>();
  private readonly queues = new Map<string, Promise<void>>();
  private readonly busy = new Set<SessionLog>();
  private closing: Promise<void> | null = null;

  constructor(
    private readonly settings: LogSettings,
    private readonly root: string,
    private readonly openMax: number,
  ) {}

  /** Rejects with `invalid_session_id` before anything is touched. */
  async use<T>(key: SessionKey, work: (log: SessionLog) => Promise<T>): Promise<T> {
    const path = logPath(this.root, key);
    if (this.closing !== null) throw new CountersignError('persistence_closed', 'the session logs are being closed');
    return this.queued(path.file, async () => {
      const name = `${key.tenant}\n${key.sessionId}`;
      const log = this.logs.get(name) ?? new SessionLog(this.settings, path, key);
      this.logs.delete(name);
      this.logs.set(name, log);
      this.busy.add(log);
      try {
        return await work(log);
      } finally {
        this.busy.delete(log);
        await this.makeRoom();
      }
    });
  }

  /** Removes the log and what is known of it. */
  async discard(key: SessionKey): Promise<void> {
    await this.use(key, async (log) => {
      await log.remove();
      this.logs.delete(`${key.tenant}\n${key.sessionId}`);
    });
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    while (this.queues.size > 0) await Promise.all(this.queues.values());
    for (const log of this.logs.values()) await log.release();
    this.logs.clear();
  }

  /** Two keys may have one file: they wait for each other too. */
  private queued<T>(file: string, work: () => Promise<T>): Promise<T> {
    const result = (this.queues.get(file) ?? Promise.resolve()).then(work);
    const settled = result.then(
      () => undefined,
      () => undefined,
    );
    this.queues.set(file, settled);
    void settled.then(() => {
      if (this.queues.get(file) === settled) this.queues.delete(file);
    });
    return result;
  }

  private async makeRoom(): Promise<void> {
    if (this.logs.size <= this.openMax) return;
    let open = 0;
    for (const log of this.logs.values()) if (log.isOpen) open += 1;
    for (const [name, log] of this.logs) {
      if (open <= this.openMax && this.logs.size <= KNOWN_MAX) return;
      if (this.busy.has(log) || !log.isCertain) continue;
      if (log.isOpen) open -= 1;
      if (this.logs.size > KNOWN_MAX) this.logs.delete(name);
      await log.release();
    }
  }
}
