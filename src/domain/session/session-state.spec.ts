import { expect, it } from '@jest/globals';
import type { JsonValue } from '../json/json-value.js';
import type { AgentState, SessionRunState, SessionSnapshot } from './session-state.js';

/** What JSON can hold, of any type; a field of another kind becomes `never`. */
type Plain<T> = T extends JsonValue | undefined
  ? T
  : T extends (...args: never[]) => unknown
    ? never
    : T extends object
      ? { [K in keyof T]: Plain<T[K]> }
      : never;

type IsPlain<T> = T extends Plain<T> ? true : false;

interface WithHandle extends AgentState {
  readonly cancel: () => void;
}

it('states are plain data: a handle in one of them does not compile [A-12, A-133]', () => {
  const plain: [IsPlain<AgentState>, IsPlain<SessionRunState>, IsPlain<SessionSnapshot>] = [true, true, true];
  const handle: IsPlain<WithHandle> = false;
  expect([...plain, handle]).toEqual([true, true, true, false]);
});
