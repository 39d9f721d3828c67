/** One open file of a log. Errors are those of the system, with its `code`. */
export interface LogFile {
  /** Exactly so many bytes; fewer only where the file ends. */
  read(at: number, length: number): Promise<Buffer>;
  /** All of the bytes, or it rejects and some of them may be there. */
  write(bytes: Uint8Array, at: number): Promise<void>;
  truncate(length: number): Promise<void>;
  /** What was written is on the disk. */
  sync(): Promise<void>;
  /** `identity` names the file itself, whatever it is called: another one of the same name has another. */
  state(): Promise<{ readonly identity: string; readonly size: number }>;
  close(): Promise<void>;
}

/** The files below the root of the logs: what the order of calls is checked against, and where faults are put in. */
export interface LogFiles {
  /** `new` rejects with `EEXIST` where there is one; `draft` replaces what a crash has left of an earlier draft. */
  open(path: string, mode: 'read' | 'write' | 'new' | 'draft'): Promise<LogFile>;
  /** Private, with what is missing above it. */
  makeDirectory(path: string): Promise<void>;
  /** The names in the directory are on the disk. */
  syncDirectory(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Of a file that is not there too. */
  remove(path: string): Promise<void>;
  /** Names in the directory; none where there is no directory. */
  names(path: string): Promise<readonly string[]>;
}

/** The system's own word for what went wrong, or null. */
export function systemCode(error: unknown): string | null {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : null;
}
