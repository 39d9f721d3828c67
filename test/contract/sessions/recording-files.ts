import { basename } from 'node:path';
import type { LogFile, LogFiles } from '../../../src/sessions/backends/jsonl/log-files.js';
import { NODE_LOG_FILES } from '../../../src/sessions/backends/jsonl/node-log-files.js';

/** Told every call before it is made, as `call name`; may throw, or end the call half way by throwing `Stopped`. */
export type OnCall = (call: string, bytes?: Uint8Array) => void;

/** Of a write: only so many bytes reach the file. */
export class Stopped extends Error {
  constructor(
    readonly after: number,
    readonly code: string,
  ) {
    super(code);
  }
}

/** The real files, with every call written down and open to faults. */
export class RecordingFiles implements LogFiles {
  readonly calls: string[] = [];
  onCall: OnCall = () => undefined;

  async open(path: string, mode: Parameters<LogFiles['open']>[1]): Promise<LogFile> {
    this.reached(`open:${mode} ${basename(path)}`);
    return this.recorded(await NODE_LOG_FILES.open(path, mode), basename(path));
  }

  async makeDirectory(path: string): Promise<void> {
    this.reached(`mkdir ${basename(path)}`);
    await NODE_LOG_FILES.makeDirectory(path);
  }

  async syncDirectory(path: string): Promise<void> {
    this.reached(`syncdir ${basename(path)}`);
    await NODE_LOG_FILES.syncDirectory(path);
  }

  async rename(from: string, to: string): Promise<void> {
    this.reached(`rename ${basename(from)} ${basename(to)}`);
    await NODE_LOG_FILES.rename(from, to);
  }

  async remove(path: string): Promise<void> {
    this.reached(`remove ${basename(path)}`);
    await NODE_LOG_FILES.remove(path);
  }

  names(path: string): Promise<readonly string[]> {
    return NODE_LOG_FILES.names(path);
  }

  private reached(call: string, bytes?: Uint8Array): void {
    this.calls.push(call);
    this.onCall(call, bytes);
  }

  private recorded(file: LogFile, name: string): LogFile {
    return {
      read: (at, length) => file.read(at, length),
      state: () => file.state(),
      close: () => file.close(),
      write: async (bytes, at) => {
        try {
          this.reached(`write ${name}`, bytes);
        } catch (error) {
          if (error instanceof Stopped) await file.write(bytes.subarray(0, error.after), at);
          throw error;
        }
        await file.write(bytes, at);
      },
      truncate: async (length) => {
        this.reached(`truncate ${name}`);
        await file.truncate(length);
      },
      sync: async () => {
        this.reached(`sync ${name}`);
        await file.sync();
      },
    };
  }
}
