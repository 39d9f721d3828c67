import { describe, expect, it } from '@jest/globals';
import { callIn } from '../../../test/builders/tool-call-examples.js';
import { compensationRefusal } from './tool-call.compensate.js';
import { decideToolCall } from './tool-call.decide.js';
import { SITUATIONS } from './tool-call.transitions.js';

describe('undoing a call', () => {
  it('needs an effect on record: what is merely unknown is looked up first', () => {
    const allowed = SITUATIONS.filter(
      (situation) => situation !== 'none' && compensationRefusal(callIn(situation)) === null,
    );
    expect(allowed).toEqual(['completed', 'failed_for_good', 'handoff_other_finding']);
  });

  it('changes nothing of the original but the name of what undoes it', () => {
    const request = { compensatesToolCallId: 'call_1', newToolCallId: 'call_2' };
    expect(decideToolCall(callIn('completed'), { kind: 'request_compensation', request })).toEqual({
      ok: true,
      events: [{ type: 'compensation.requested', payload: request }],
    });
  });

  it('throws when a call is to undo itself', () => {
    const request = { compensatesToolCallId: 'call_1', newToolCallId: 'call_1' };
    expect(() => decideToolCall(callIn('completed'), { kind: 'request_compensation', request })).toThrow('itself');
  });
});
