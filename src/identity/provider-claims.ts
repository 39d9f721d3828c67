import type { IdentityProviderSettings } from '../config/settings.js';
import { ACT_DEPTH_MAX, type Claims } from './claims.js';
import { ROLES } from './caller.js';
import { prefixOf } from './issuer.js';

/** A provider may list more groups than ours has; beyond that the token is refused. */
const VALUES_MAX = 1000;
const GROUP_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/**
 * The claims of a provider's token in the words of ours, to be read by the same rules; null when they are not of the form that the
 * settings say. Claims of ours that the token has by itself (`tenant`, `roles`, `agent_owner`) mean nothing unless the settings name them.
 */
export function claimsOfProvider(claims: Claims, provider: IdentityProviderSettings): Claims | null {
  const theirs = listAt(claims, provider.groupsClaim);
  const said = listAt(claims, provider.rolesClaim);
  if (theirs === null || said === null) return null;
  const { exp, iat, aud, jti, sub, act } = claims;
  const prefix = prefixOf(provider);
  return {
    exp,
    iat,
    aud,
    ...(jti === undefined ? {} : { jti }),
    sub: typeof sub === 'string' ? `${prefix}${sub}` : undefined,
    ...(act === undefined ? {} : { act: actorsOf(act, prefix, 0) }),
    tenant: provider.tenant ?? (provider.tenantClaim === null ? undefined : valueAt(claims, provider.tenantClaim)),
    roles: rolesOf(said, theirs, provider),
    groups: groupsOf(theirs, provider),
  };
}

/** The chain of actors with the provider's prefix; what is no actor stays what it is, to be refused. */
function actorsOf(act: unknown, prefix: string, depth: number): unknown {
  if (typeof act !== 'object' || act === null || Array.isArray(act) || depth > ACT_DEPTH_MAX) return null;
  const { sub, act: inner } = act as Claims;
  return {
    sub: typeof sub === 'string' ? `${prefix}${sub}` : undefined,
    ...(inner === undefined ? {} : { act: actorsOf(inner, prefix, depth + 1) }),
  };
}

function rolesOf(
  said: readonly string[],
  groups: readonly string[],
  { rolesByGroup }: IdentityProviderSettings,
): readonly string[] {
  const byGroup = groups.flatMap((group) => (Object.hasOwn(rolesByGroup, group) ? (rolesByGroup[group] ?? []) : []));
  // A provider serves other programs too, and their roles are none of ours.
  return ROLES.filter((role) => said.includes(role) || byGroup.includes(role));
}

function groupsOf(theirs: readonly string[], { groups }: IdentityProviderSettings): readonly string[] {
  const ours = theirs.flatMap((group) => {
    if (groups === null) return GROUP_NAME.test(group) ? [group] : [];
    return Object.hasOwn(groups, group) ? (groups[group] ?? []) : [];
  });
  return [...new Set(ours)];
}

/** Empty where no claim is set or the token does not have it; null when it is no list of texts. */
function listAt(claims: Claims, claim: string | null): readonly string[] | null {
  const value = claim === null ? undefined : valueAt(claims, claim);
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > VALUES_MAX) return null;
  return value.every((item): item is string => typeof item === 'string') ? value : null;
}

/** A claim by its name; a dot may also lead into a claim (`realm_access.roles`). */
function valueAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let at: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Claims)[part];
  }
  return at;
}
