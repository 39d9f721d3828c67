import { json, refusal } from './answers.mjs';

/** @typedef {import('./answers.mjs').Answer} Answer */
/** @typedef {import('./answers.mjs').Transmission} Transmission */
/** @typedef {import('./fault-switches.mjs').Switches} Switches */

/**
 * What a request gets instead of its effect, or null when the effect goes ahead.
 *
 * @param {Switches} switches
 * @param {string | null} credential the received Authorization header when it is to be reflected
 * @returns {Transmission | null}
 */
export function spoiledBeforeEffect(switches, credential) {
  if (switches.resetBeforeEffect === true) return { kind: 'reset' };
  if (switches.hangForever === 'beforeEffect') return { kind: 'hang' };
  if (switches.redirect === 'beforeEffect') return whole(redirect(switches), credential);
  if (switches.statusBeforeEffect !== undefined) return whole(switchedError(switches.statusBeforeEffect), credential);
  if (switches.rejectWith !== undefined) {
    return whole(
      refusal(switches.rejectWith, 'refund_rejected', 'The refund was refused; nothing was done.'),
      credential,
    );
  }
  return null;
}

/**
 * What a request gets after its effect: the answer, or what the switches make of it.
 *
 * @param {Answer} answer
 * @param {Switches} switches
 * @param {string | null} credential the received Authorization header when it is to be reflected
 * @returns {Transmission}
 */
export function spoiledAnswer(answer, switches, credential) {
  if (switches.resetAfterEffect === true) return { kind: 'reset' };
  if (switches.hangForever === 'afterEffect') return { kind: 'hang' };
  if (switches.redirect === 'afterEffect') return whole(redirect(switches), credential);
  if (switches.statusAfterEffect !== undefined) return whole(switchedError(switches.statusAfterEffect), credential);
  const worded = withCredential(misworded(answer, switches), credential);
  if (switches.halfBody === true) return { kind: 'half', answer: worded };
  if (switches.slowBodyMs !== undefined) return { kind: 'slow', answer: worded, overMs: switches.slowBodyMs };
  return { kind: 'whole', answer: worded };
}

/** @param {Answer} answer @param {Switches} switches @returns {Answer} */
function misworded(answer, switches) {
  if (switches.wrongShape === true) return { ...answer, text: '{"ok":true}' };
  if (switches.invalidJson === true) return { ...answer, text: answer.text.slice(0, -2) };
  if (switches.bodyBytes === undefined) return answer;
  const padding = 'x'.repeat(Math.max(0, switches.bodyBytes - answer.text.length - ',"padding":""'.length));
  return { ...answer, text: `${answer.text.slice(0, -1)},"padding":"${padding}"}` };
}

/** @param {Answer} answer @param {string | null} credential @returns {Transmission} */
function whole(answer, credential) {
  return { kind: 'whole', answer: withCredential(answer, credential) };
}

/** @param {Answer} answer @param {string | null} credential @returns {Answer} */
function withCredential(answer, credential) {
  if (credential === null) return answer;
  return { ...answer, text: `${answer.text.slice(0, -1)},"receivedAuthorization":${JSON.stringify(credential)}}` };
}

/** @param {number} status */
function switchedError(status) {
  const answer = refusal(status, 'provider_error', 'Something went wrong on our side.');
  return status === 429 || status === 503 ? { ...answer, headers: { 'retry-after': '1' } } : answer;
}

/** @param {Switches} switches a followed redirect comes back here and is counted in the stats */
function redirect(switches) {
  return json(switches.redirectStatus ?? 302, {}, { location: '/v1/refunds?redirected=1' });
}
