/** The callers of a chaos run: many at a time, each asks again under its key until it has an answer. */
import { setTimeout as pause } from 'node:timers/promises';

/** Above it, people are asked. */
const FREE_UP_TO = 5_000;
const ASK_AGAIN_MS = 20;
const THINK_MS_MAX = 150;
/** Calls so recent are the ones that are asked for again. */
const RECENT = 1_000;

/**
 * @typedef {object} Call
 * @property {string} key
 * @property {{ orderId: string, amountMinor: number }} args
 * @property {string | null} toolCallId null: nobody has acknowledged it yet
 */

/** @typedef {{ toolCallId: string, status: string, approval: { approvalId: string } | null }} Acknowledgement */

export class Clients {
  /** Every call that was ever asked for. @type {Call[]} */
  calls = [];
  /** What was promised and not kept. @type {string[]} */
  broken = [];
  #target;
  #random;
  #isEnding = false;
  #takenBefore = { left: 0, tell: () => {} };
  /** @type {string | null} */
  #url = null;
  /** @type {(() => void)[]} */
  #waiting = [];

  /** @param {import('./proxy-target.mjs').Target} target @param {import('./random.mjs').Random} random */
  constructor(target, random) {
    this.#target = target;
    this.#random = random;
  }

  /** @param {string} url */
  isUp(url) {
    this.#url = url;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  isDown() {
    this.#url = null;
  }

  /** Answers when all of them have ended, some time after `end`. @param {number} count */
  run(count) {
    return Promise.all(Array.from({ length: count }, () => this.#callOnAndOn()));
  }

  /** Answers when so many more calls have been acknowledged. @param {number} count @returns {Promise<void>} */
  taken(count) {
    return new Promise((resolve) => (this.#takenBefore = { left: count, tell: resolve }));
  }

  #noteTaken() {
    this.#takenBefore.left -= 1;
    if (this.#takenBefore.left === 0) this.#takenBefore.tell();
  }

  /** Nothing new is asked for. */
  end() {
    this.#isEnding = true;
  }

  async #callOnAndOn() {
    while (!this.#isEnding) {
      if (this.#random.fraction() < 0.15 && this.calls.length > 0) await this.#attach();
      else await this.#carry(this.#newCall());
      await pause(this.#random.whole(0, THINK_MS_MAX));
    }
  }

  #newCall() {
    const number = this.calls.length;
    const needsPeople = this.#random.fraction() < 0.15;
    const amountMinor = needsPeople ? FREE_UP_TO + 1 + number : 1 + (number % FREE_UP_TO);
    /** @type {Call} */
    const call = {
      key: `chaos-${number}`,
      args: { orderId: `order-${number}`, amountMinor: Math.min(amountMinor, 90_000) },
      toolCallId: null,
    };
    this.calls.push(call);
    return call;
  }

  /** Until the call is acknowledged and, where people are asked, decided. @param {Call} call */
  async #carry(call) {
    const { approval } = await this.#untilAnswered(call);
    if (approval !== null) await this.#allow(approval.approvalId);
  }

  /** What was acknowledged once is asked for again. */
  async #attach() {
    const call = this.#random.oneOf(this.calls.slice(-RECENT));
    if (call.toolCallId !== null) await this.#untilAnswered(call);
  }

  /** @param {Call} call @returns {Promise<Acknowledgement>} */
  async #untilAnswered(call) {
    for (;;) {
      const answer = await this.#ask('harness', 'POST', '/v1/tool-calls', this.#proposal(call), {
        'idempotency-key': call.key,
        prefer: 'wait=0',
      });
      if (answer !== null) {
        const acknowledged = /** @type {Acknowledgement} */ (answer);
        if (call.toolCallId !== null && call.toolCallId !== acknowledged.toolCallId) {
          this.broken.push(`${call.key} was ${call.toolCallId} and is ${acknowledged.toolCallId}`);
        }
        if (call.toolCallId === null) this.#noteTaken();
        call.toolCallId = acknowledged.toolCallId;
        return acknowledged;
      }
      await pause(ASK_AGAIN_MS);
    }
  }

  /** @param {Call} call */
  #proposal({ args }) {
    return { capability: 'pay.create', arguments: args };
  }

  /** @param {string} approvalId */
  async #allow(approvalId) {
    for (;;) {
      const shown = await this.#ask('lead', 'GET', `/v1/approvals/${approvalId}`);
      const { status, digest } = /** @type {{ status?: string, digest?: string }} */ (shown ?? {});
      if (status !== undefined && status !== 'pending') return;
      if (digest === undefined) await pause(ASK_AGAIN_MS);
      else await this.#ask('lead', 'POST', `/v1/approvals/${approvalId}/decision`, { decision: 'allow', digest });
    }
  }

  /**
   * Null: nobody knows whether it was taken, or it was not taken now.
   * @param {'harness' | 'lead'} who @param {string} method @param {string} path @param {object | null} [body]
   * @param {Record<string, string>} [more] @returns {Promise<unknown>}
   */
  async #ask(who, method, path, body = null, more = {}) {
    const url = await this.#untilUp();
    const headers = {
      authorization: `Bearer ${this.#target.tokens[who]}`,
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...more,
    };
    try {
      const sent = body === null ? {} : { body: JSON.stringify(body) };
      const response = await fetch(`${url}${path}`, { method, headers, ...sent });
      /** @type {unknown} */
      const answer = await response.json();
      if (response.ok) return answer;
      if (![409, 429, 503].includes(response.status)) this.broken.push(`${method} ${path}: ${JSON.stringify(answer)}`);
      return null;
    } catch {
      return null;
    }
  }

  /** @returns {Promise<string>} */
  async #untilUp() {
    while (this.#url === null) await new Promise((resolve) => this.#waiting.push(() => resolve(null)));
    return this.#url;
  }
}
