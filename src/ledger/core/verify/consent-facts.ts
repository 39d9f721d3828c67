import { consentDigest, type Consent } from '../../../domain/digests/digests.js';
import { isJsonObject, jsonEquals, type JsonObject, type JsonValue } from '../../../domain/json/json-value.js';
import { asText } from './part-shapes.js';

/** What the rules keep of a call. */
export interface CallFacts {
  tenant: string;
  proposal: JsonObject | null;
  /** True when something about the call is withheld: then nothing is found missing. */
  opaque: boolean;
  /** Attempt → what it was authorized by. */
  readonly authorized: Map<number, string>;
  readonly dispatched: Set<number>;
}

/** What the rules keep of a question to people. */
export interface ApprovalFacts {
  readonly question: JsonObject;
  /** Person → groups of the question in which an allow counts; null for a deny. */
  readonly votes: Map<string, readonly string[] | null>;
  brokenGlass: boolean;
  wasGranted: boolean;
  granted: boolean;
  consumed: boolean;
}

/** The digest of what people were asked to consent to, with the target that was sent to. Null when a field is missing. */
export function consentOf(
  toolCallId: string,
  { tenant, proposal }: CallFacts,
  question: JsonObject,
  target: JsonValue | undefined,
): string | null {
  const principal = proposal?.['principal'];
  if (!isJsonObject(target) || !isJsonObject(principal) || typeof principal['sub'] !== 'string') return null;
  const consent = {
    toolCallId,
    attempt: question['attempt'],
    tenant,
    principal,
    capability: `${asText(question['capability'])}@${asText(question['capabilityVersion'])}`,
    manifestDigest: question['manifestDigest'],
    argsDigest: question['argsDigest'],
    target,
    risk: question['risk'],
    policyRevision: question['policyRevision'],
    decideBy: question['decideBy'],
    executeBy: question['executeByLatest'],
  };
  const isWhole = Object.values(consent).every((value) => value !== undefined);
  return isWhole ? consentDigest(consent as unknown as Consent) : null;
}

const SAME = ['argsDigest', 'manifestDigest', 'capability', 'capabilityVersion', 'risk'] as const;

/** The question is about the call as it was proposed. */
export function asksAbout(question: JsonObject, proposal: JsonObject): boolean {
  return SAME.every((name) => question[name] === proposal[name]);
}

/**
 * Whether people were shown the arguments. Arguments that are masked or escaped for display cannot be compared letter for letter and count
 * as shown; their digests are compared elsewhere.
 */
export function showsArguments(question: JsonObject, proposal: JsonObject): boolean {
  const { shown } = question;
  const redacted = proposal['redacted'];
  const hasRedacted = Array.isArray(redacted) && redacted.length > 0;
  const args = proposal['arguments'];
  if (!isJsonObject(shown) || args === undefined || hasRedacted || !isPlain(args)) return true;
  return jsonEquals(shown['arguments'] ?? null, args);
}

const PLAIN = /^[\u0020-\u005b\u005d-\u007e]*$/;

/** Every text of the value is shown as it is: printable ASCII without a backslash. */
function isPlain(value: JsonValue): boolean {
  if (typeof value === 'string') return PLAIN.test(value);
  if (Array.isArray(value)) return (value as readonly JsonValue[]).every(isPlain);
  if (!isJsonObject(value)) return true;
  return Object.entries(value).every(([key, inner]) => PLAIN.test(key) && isPlain(inner));
}

/** Every rule of the question has its people among those who allow. */
export function hasQuorum({ question, votes }: ApprovalFacts): boolean {
  const rules = question['groups'];
  if (!Array.isArray(rules) || rules.length === 0) return false;
  const requesters = question['requesterSubjects'];
  const asked = (Array.isArray(requesters) ? requesters : []) as readonly JsonValue[];
  return (rules as readonly JsonValue[]).every((rule) => {
    if (!isJsonObject(rule) || typeof rule['group'] !== 'string' || typeof rule['count'] !== 'number') return false;
    const { group, count, notRequester } = rule;
    const people = [...votes].filter(([sub, groups]) => {
      return groups?.includes(group) === true && !(notRequester === true && asked.includes(sub));
    });
    return count >= 1 && people.length >= count;
  });
}
