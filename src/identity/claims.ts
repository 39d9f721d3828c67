import type { Settings } from '../config/settings.js';
import type { Actor } from '../domain/events/envelope.js';
import { ROLES, type Caller, type Role } from './caller.js';

export type Claims = Readonly<Record<string, unknown>>;

export type ReadClaims =
  | {
      readonly ok: true;
      readonly caller: Caller;
      readonly expiresAtMs: number;
      /** Null when the token has no name of its own. */
      readonly jti: string | null;
      /** Seconds since 1970. */
      readonly issuedAt: number;
    }
  | { readonly ok: false; readonly problem: string };

const SUBJECT = /^[\x21-\x7e]{1,256}$/;
const TENANT = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
/** Agents that act for one another, at most. */
export const ACT_DEPTH_MAX = 4;
const LIST_MAX = 100;

/** Reads who is calling from the claims of a verified token. Anything odd is a refusal, never a guess. */
export function readClaims(claims: Claims, settings: Settings['identity'], nowMs: number): ReadClaims {
  const expiry = claims['exp'];
  const issued = claims['iat'];
  if (!isSafeInteger(expiry) || !isSafeInteger(issued)) return problem('exp and iat must be whole seconds');
  if ((expiry - issued) * 1000 > settings.tokenLifetimeMsMax) return problem('the token lives too long');
  if (issued * 1000 > nowMs + settings.clockToleranceMs) return problem('the token was issued in the future');
  const audience = claims['aud'];
  if (Array.isArray(audience) && audience.length !== 1) return problem('the token must be for this audience alone');
  const tenant = claims['tenant'];
  if (typeof tenant !== 'string' || !TENANT.test(tenant)) return problem('the claim tenant is missing or not a name');
  const actor = readActor(claims, 0);
  if (actor === null) return problem('sub or act is missing or not a visible ASCII name');
  const roles = readList(claims['roles']);
  if (roles === null || !roles.every(isRole)) return problem('the claim roles must list known roles');
  const groups = claims['groups'] === undefined ? [] : readList(claims['groups']);
  if (groups === null) return problem('the claim groups must be a list of names');
  const owner = claims['agent_owner'];
  if (owner !== undefined && (typeof owner !== 'string' || !SUBJECT.test(owner)))
    return problem('agent_owner is not a name');
  const jti = claims['jti'];
  if (jti !== undefined && (typeof jti !== 'string' || !SUBJECT.test(jti))) return problem('jti is not a name');
  const isAgent = actor.act !== undefined || roles.includes('harness');
  return {
    ok: true,
    caller: { tenant, actor, roles, groups, agentOwner: owner ?? null, isAgent },
    expiresAtMs: expiry * 1000 + settings.clockToleranceMs,
    jti: jti ?? null,
    issuedAt: issued,
  };
}

function readActor(claims: Claims, depth: number): Actor | null {
  const sub = claims['sub'];
  if (typeof sub !== 'string' || !SUBJECT.test(sub) || depth > ACT_DEPTH_MAX) return null;
  const act = claims['act'];
  if (act === undefined) return { sub };
  if (typeof act !== 'object' || act === null || Array.isArray(act)) return null;
  const inner = readActor(act as Claims, depth + 1);
  return inner === null ? null : { sub, act: inner };
}

function readList(value: unknown): string[] | null {
  if (!Array.isArray(value) || value.length > LIST_MAX) return null;
  return value.every((item): item is string => typeof item === 'string' && SUBJECT.test(item)) ? value : null;
}

const isRole = (role: string): role is Role => (ROLES as readonly string[]).includes(role);
const isSafeInteger = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const problem = (text: string): ReadClaims => ({ ok: false, problem: text });
