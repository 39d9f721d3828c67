import { openToolCalls } from './history/tool-pairing.js';
import type { AgentState, HistoryMessage } from './session-state.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

type Lists = Pick<AgentState, 'usages' | 'currentLoopUsages' | 'systemPromptHistory' | 'toolsHistory'>;

/** A state while facts are folded onto it. Fields are replaced in place; a list is copied the first time it is written to. */
export interface AgentDraft {
  readonly state: Mutable<Omit<AgentState, 'history'>>;
  messages: readonly HistoryMessage[];
  episodes: AgentState['history']['episodicMemories'];
  /** Names of the lists that are the draft's own. */
  readonly owned: Set<string>;
  /** Calls that wait for their answer, by call id; built when the first message asks for it. */
  open: Map<string, HistoryMessage> | null;
}

/** What the last fold found open in a list of messages, so that one more fact does not read all of them again. */
const OPEN_OF = new WeakMap<readonly HistoryMessage[], ReadonlyMap<string, HistoryMessage>>();

/** Calls of the history that wait for their answer; the map is the draft's own. */
export function openCalls(draft: AgentDraft): Map<string, HistoryMessage> {
  draft.open ??= new Map(readOpen(draft.messages));
  return draft.open;
}

function readOpen(messages: readonly HistoryMessage[]): [string, HistoryMessage][] {
  return [...openToolCalls(messages)].map(([callId, at]) => [callId, messages[at] as HistoryMessage]);
}

export function beginDraft(state: AgentState): AgentDraft {
  const { history, ...rest } = state;
  const open = OPEN_OF.get(history.messages);
  return {
    state: { ...rest },
    messages: history.messages,
    episodes: history.episodicMemories,
    owned: new Set(),
    open: open === undefined ? null : new Map(open),
  };
}

export function endDraft({ state, messages, episodes, open }: AgentDraft): AgentState {
  if (open !== null) OPEN_OF.set(messages, open);
  return { ...state, history: { messages, episodicMemories: episodes } };
}

/** The messages, ready to be written to. */
export function ownMessages(draft: AgentDraft): HistoryMessage[] {
  if (!draft.owned.has('messages')) {
    draft.messages = [...draft.messages];
    draft.owned.add('messages');
  }
  return draft.messages as HistoryMessage[];
}

/** One of the lists, ready to be written to. */
export function ownList<K extends keyof Lists>(draft: AgentDraft, name: K): Lists[K][number][] {
  if (!draft.owned.has(name)) {
    draft.state[name] = [...draft.state[name]] as unknown as Lists[K];
    draft.owned.add(name);
  }
  return draft.state[name] as unknown as Lists[K][number][];
}

/** Begins a list anew. */
export function clearList(draft: AgentDraft, name: keyof Lists): void {
  draft.state[name] = [];
  draft.owned.add(name);
}
