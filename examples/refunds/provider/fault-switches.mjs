/**
 * What a rule may switch on. The names are the wire names of `POST /_control/faults`; provider.mjs says what each does.
 *
 * @typedef {object} Switches
 * @property {number} [delayBeforeMs]
 * @property {number} [delayAfterMs]
 * @property {boolean} [resetBeforeEffect]
 * @property {boolean} [resetAfterEffect]
 * @property {number} [statusBeforeEffect]
 * @property {number} [statusAfterEffect]
 * @property {number} [rejectWith]
 * @property {'beforeEffect' | 'afterEffect'} [redirect]
 * @property {number} [redirectStatus]
 * @property {'beforeEffect' | 'afterEffect'} [hangForever]
 * @property {boolean} [halfBody]
 * @property {boolean} [invalidJson]
 * @property {boolean} [wrongShape]
 * @property {number} [bodyBytes]
 * @property {number} [slowBodyMs]
 * @property {boolean} [reflectKey]
 * @property {boolean} [accept202]
 * @property {number} [completeAfterMs]
 * @property {'succeeded' | 'failed' | 'never'} [completeAs]
 * @property {number} [callbackCopies]
 * @property {number} [callbackDelayMs]
 * @property {'before' | 'after'} [callbackProcessing]
 * @property {boolean} [callbackBadSignature]
 * @property {boolean} [callbackLost]
 * @property {boolean} [lyingProbe]
 * @property {number} [probeDelayMs]
 * @property {number} [probeStatus]
 * @property {number} [visibilityDelayMs]
 * @property {boolean} [resetConnection]
 */

/** Which traffic a rule is about: refund requests, lookups of refunds, or connections before a byte is read.
 * @typedef {'refund' | 'lookup' | 'connection'} Target */

/**
 * @typedef {object} Rule
 * @property {string} id
 * @property {Target} target
 * @property {string | null} keyPrefix
 * @property {string | null} orderId
 * @property {number | null} times null: every match, until the rules are deleted
 * @property {number} taken
 * @property {Switches} switches
 */

/** @typedef {(value: unknown) => unknown} Check answers undefined for a value the switch does not take */

/** @param {number} min @param {number} max @returns {Check} */
const integer = (min, max) => (value) =>
  Number.isInteger(value) && Number(value) >= min && Number(value) <= max ? value : undefined;
/** @type {Check} */
const on = (value) => (value === true ? true : undefined);
/** @param {...string} words @returns {Check} */
const oneOf =
  (...words) =>
  (value) =>
    words.includes(String(value)) ? value : undefined;
/** @type {Check} */
const moment = (value) => (value === true ? 'beforeEffect' : oneOf('beforeEffect', 'afterEffect')(value));

const delay = integer(0, 3_600_000);
const errorStatus = integer(400, 599);

/** @type {Record<keyof Switches, { target: Target, check: Check }>} */
const known = {
  delayBeforeMs: { target: 'refund', check: delay },
  delayAfterMs: { target: 'refund', check: delay },
  resetBeforeEffect: { target: 'refund', check: on },
  resetAfterEffect: { target: 'refund', check: on },
  statusBeforeEffect: { target: 'refund', check: errorStatus },
  statusAfterEffect: { target: 'refund', check: errorStatus },
  rejectWith: { target: 'refund', check: integer(400, 499) },
  redirect: { target: 'refund', check: moment },
  redirectStatus: { target: 'refund', check: integer(300, 399) },
  hangForever: { target: 'refund', check: moment },
  halfBody: { target: 'refund', check: on },
  invalidJson: { target: 'refund', check: on },
  wrongShape: { target: 'refund', check: on },
  bodyBytes: { target: 'refund', check: integer(1, 256 * 1_048_576) },
  slowBodyMs: { target: 'refund', check: delay },
  reflectKey: { target: 'refund', check: on },
  accept202: { target: 'refund', check: on },
  completeAfterMs: { target: 'refund', check: delay },
  completeAs: { target: 'refund', check: oneOf('succeeded', 'failed', 'never') },
  callbackCopies: { target: 'refund', check: integer(1, 100) },
  callbackDelayMs: { target: 'refund', check: delay },
  callbackProcessing: { target: 'refund', check: oneOf('before', 'after') },
  callbackBadSignature: { target: 'refund', check: on },
  callbackLost: { target: 'refund', check: on },
  lyingProbe: { target: 'lookup', check: on },
  probeDelayMs: { target: 'lookup', check: delay },
  probeStatus: { target: 'lookup', check: errorStatus },
  visibilityDelayMs: { target: 'lookup', check: delay },
  resetConnection: { target: 'connection', check: on },
};

/** A rule that cannot be meant: the message names the field and what it takes. */
export class RuleRefused extends Error {}

/** The switched-on faults, oldest first. They live in memory: a restarted provider is a healthy one. */
export class FaultSwitches {
  /** @type {Rule[]} */
  #rules = [];
  #count = 0;

  /**
   * @param {Record<string, unknown>} body switches plus `times?`, `keyPrefix?`, `orderId?`
   * @throws {RuleRefused} an unknown field, a value out of range, or switches of two targets in one rule
   */
  add(body) {
    const { times = null, keyPrefix = null, orderId = null, ...rest } = body;
    if (times !== null && integer(1, 1_000_000)(times) === undefined) throw new RuleRefused('times: 1 to 1000000');
    const { target, switches } = parseSwitches(rest);
    if (target === 'connection' && (keyPrefix !== null || orderId !== null)) {
      throw new RuleRefused('resetConnection acts before a request is read: it takes no keyPrefix and no orderId');
    }
    this.#count += 1;
    const rule = {
      id: `fault_${this.#count}`,
      target,
      keyPrefix: optionalText('keyPrefix', keyPrefix),
      orderId: optionalText('orderId', orderId),
      times: times === null ? null : Number(times),
      taken: 0,
      switches,
    };
    this.#rules.push(rule);
    return rule;
  }

  list() {
    return this.#rules;
  }

  clear() {
    this.#rules = [];
  }

  /**
   * The switches of the first rule that matches, which is used up by one; no switches when none does.
   *
   * @param {Target} target
   * @param {{ key: string | null, orderId: string | null }} subject
   * @returns {Switches}
   */
  take(target, subject) {
    const rule = this.#rules.find((candidate) => matches(candidate, target, subject));
    if (rule === undefined) return {};
    rule.taken += 1;
    return rule.switches;
  }
}

/** @param {Rule} rule @param {Target} target @param {{ key: string | null, orderId: string | null }} subject */
function matches(rule, target, subject) {
  if (rule.target !== target || (rule.times !== null && rule.taken >= rule.times)) return false;
  if (rule.orderId !== null && rule.orderId !== subject.orderId) return false;
  return rule.keyPrefix === null || (subject.key !== null && subject.key.startsWith(rule.keyPrefix));
}

/** @param {Record<string, unknown>} fields @returns {{ target: Target, switches: Switches }} */
function parseSwitches(fields) {
  /** @type {Record<string, unknown>} */
  const switches = {};
  /** @type {Set<Target>} */
  const targets = new Set();
  for (const [name, value] of Object.entries(fields)) {
    const definition = Object.hasOwn(known, name) ? known[/** @type {keyof Switches} */ (name)] : undefined;
    if (definition === undefined) throw new RuleRefused(`unknown switch; known are ${Object.keys(known).join(', ')}`);
    const checked = definition.check(value);
    if (checked === undefined) throw new RuleRefused(`${name}: this value is not one it takes`);
    switches[name] = checked;
    targets.add(definition.target);
  }
  const [target, ...others] = targets;
  if (target === undefined || others.length > 0) {
    throw new RuleRefused('a rule needs at least one switch, all of one kind: refund requests, lookups or connections');
  }
  return { target, switches };
}

/** @param {string} name @param {unknown} value @returns {string | null} */
function optionalText(name, value) {
  if (value === null || typeof value === 'string') return value;
  throw new RuleRefused(`${name}: a string`);
}
