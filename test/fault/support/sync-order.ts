/** What one system call says for the order of disk and network; `tid` is the thread that made it. */
type Step =
  | { readonly kind: 'log_write'; readonly tid: string; readonly words: readonly string[] }
  | { readonly kind: 'log_sync_begin' | 'log_sync_end'; readonly tid: string }
  | { readonly kind: 'told'; readonly to: 'tool' | 'client'; readonly words: readonly string[] };

/** A word of the record that left the process before the record was on disk, or without ever being in it. */
export interface Violation {
  readonly word: string;
  readonly to: 'tool' | 'client';
  readonly why: 'never recorded' | 'not synced';
}

/**
 * Reads the lines of `strace -f -y` and finds everything that was told to the tool or to a client before the log of the
 * database had it on disk.
 *
 * The words are tool call ids and downstream keys. Both stand in clear text in the row of the call, so the first write to
 * the `-wal` file whose bytes hold a word belongs to the transaction that recorded the call; where policy allows at once
 * and a slot is free, that transaction also holds the intent to send. One thread writes, and it writes all frames of a
 * transaction before it syncs the log. So the transaction is on disk when the first sync *by that thread* that began after
 * that write has ended, and not before. A sync by another thread (a checkpoint syncs the log too) counts for nothing: it
 * may have begun between two frames. The order is that of the tracer's lines, which is the order in which the kernel let
 * the calls begin (a line, or its `<unfinished ...>`) and end (a line, or its `resumed>`). A send is taken at its begin and a
 * sync at its end, so being concurrent never counts as being in order.
 */
export class SyncOrder {
  readonly violations: Violation[] = [];
  /** What left after its sync, each word once per receiver: that the check saw anything at all. */
  readonly inOrder = { tool: new Set<string>(), client: new Set<string>() };
  private readonly recorded = new Map<string, { durable: boolean }>();
  private readonly unsynced = new Map<string, { durable: boolean }[]>();
  private readonly syncing = new Map<string, { durable: boolean }[]>();

  readonly line = (text: string): void => {
    for (const step of stepsOf(text)) this.take(step);
  };

  private take(step: Step): void {
    switch (step.kind) {
      case 'log_write':
        for (const word of step.words) this.write(word, step.tid);
        return;
      case 'log_sync_begin':
        this.syncing.set(step.tid, this.unsynced.get(step.tid) ?? []);
        this.unsynced.delete(step.tid);
        return;
      case 'log_sync_end':
        for (const record of this.syncing.get(step.tid) ?? []) record.durable = true;
        this.syncing.delete(step.tid);
        return;
      case 'told':
        for (const word of step.words) this.tell(word, step.to);
    }
  }

  private write(word: string, tid: string): void {
    if (this.recorded.has(word)) return;
    const record = { durable: false };
    this.recorded.set(word, record);
    this.unsynced.set(tid, [...(this.unsynced.get(tid) ?? []), record]);
  }

  private tell(word: string, to: 'tool' | 'client'): void {
    const record = this.recorded.get(word);
    if (record?.durable === true) this.inOrder[to].add(word);
    else this.violations.push({ word, to, why: record === undefined ? 'never recorded' : 'not synced' });
  }
}

/** Of exact length: in a row the next column follows without a gap, and before the word an escape may end in a letter. */
const WORD = /cs_[0-9a-f]{40}|call_[0-9a-z]{26}/g;
const CALL = /^(?:\[pid +(\d+)\] )?(\w+)\((\d+<(?:[^>\\]|\\.)*>+)/;
const RESUMED = /^(?:\[pid +(\d+)\] )?<\.\.\. (fsync|fdatasync) resumed>.*= (-?\d+)/;

/** A line of one thread alone has no `[pid N]`; it is the process itself. */
const MAIN = 'main';

function stepsOf(text: string): Step[] {
  const resumed = RESUMED.exec(text);
  if (resumed !== null) return resumed[3] === '0' ? [{ kind: 'log_sync_end', tid: resumed[1] ?? MAIN }] : [];
  const call = CALL.exec(text);
  if (call === null) return [];
  const [, tid = MAIN, name = '', file = ''] = call;
  const isLog = /countersign\.sqlite-wal>/.test(file);
  if (name === 'fsync' || name === 'fdatasync') {
    if (!isLog) return [];
    if (text.includes('<unfinished')) return [{ kind: 'log_sync_begin', tid }];
    return / = 0/.test(text)
      ? [
          { kind: 'log_sync_begin', tid },
          { kind: 'log_sync_end', tid },
        ]
      : [];
  }
  if (name === 'pwrite64' || name === 'pwritev') return isLog ? [{ kind: 'log_write', tid, words: wordsIn(text) }] : [];
  if (!/<(?:socket|TCP)/.test(file)) return [];
  const words = wordsIn(text);
  if (words.length === 0) return [];
  return [{ kind: 'told', to: /POST \/v1\/refunds/.test(text) ? 'tool' : 'client', words }];
}

const wordsIn = (text: string): string[] => [...new Set(text.match(WORD) ?? [])];
