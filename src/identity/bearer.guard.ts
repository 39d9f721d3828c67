import { Injectable, SetMetadata, createParamDecorator, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { ROLES, hasRole, type Caller, type Role } from './caller.js';
import { TokenVerifier } from './token-verifier.js';

const ROLES_KEY = 'countersign:roles';

/** The roles of which a caller needs one. Every route names its roles; a route without them is refused to everybody. */
export const AllowRoles = (...roles: readonly Role[]): MethodDecorator & ClassDecorator =>
  SetMetadata(ROLES_KEY, roles);

const PUBLIC_KEY = 'countersign:public';

/** For routes that say nothing about anybody's data. */
export const Public = (): MethodDecorator => SetMetadata(PUBLIC_KEY, true);

type OpenRule = (settings: Settings, address: string | undefined) => boolean;

const OPEN_KEY = 'countersign:open';

/** For a route that the settings may open to callers without a token; `address` is where the connection comes from. */
export const OpenIf = (rule: OpenRule): MethodDecorator => SetMetadata(OPEN_KEY, rule);

const SIGNED_KEY = 'countersign:signed';

/**
 * For routes that machines call which have no token of ours: the handler checks the signature of the request. A token
 * that comes along must be good and have one of the route's roles.
 */
export const Signed = (): MethodDecorator => SetMetadata(SIGNED_KEY, true);

const isSigned = (handler: object): boolean => Reflect.getMetadata(SIGNED_KEY, handler) === true;

interface AuthenticatedRequest {
  readonly headers: { readonly authorization?: string };
  readonly socket?: { readonly remoteAddress?: string };
  caller?: Caller;
}

/** Who may call a route: everybody, or who has one of these roles (no role: nobody). */
export type Access = 'public' | readonly Role[];

/** Who may call the route of a handler, as the guard reads it. */
export function accessOf(handler: object, controller: object): Access {
  if (Reflect.getMetadata(PUBLIC_KEY, handler) === true) return 'public';
  const roles: unknown = Reflect.getMetadata(ROLES_KEY, handler) ?? Reflect.getMetadata(ROLES_KEY, controller);
  return (roles as readonly Role[] | undefined) ?? [];
}

/** The verified caller of the request. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (caller === undefined) throw new Error('a route without the bearer guard asked for its caller');
  return caller;
});

/** The same where the settings may have opened the route: null when they have, and nobody was asked for a token. */
export const CallerIfAsked = createParamDecorator(
  (_: unknown, context: ExecutionContext): Caller | null =>
    context.switchToHttp().getRequest<AuthenticatedRequest>().caller ?? null,
);

/** The token of an `Authorization` header (RFC 6750); null when there is none of the right form. */
function bearerToken(authorization: string | undefined): string | null {
  return /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization ?? '')?.[1] ?? null;
}

/** The token of a request to a public route, not verified; null when there is none. */
export const PresentedToken = createParamDecorator((_: unknown, context: ExecutionContext): string | null =>
  bearerToken(context.switchToHttp().getRequest<AuthenticatedRequest>().headers.authorization),
);

/** The verified caller of a signed request; null when it brought no token. */
export const MaybeCaller = createParamDecorator(
  (_: unknown, context: ExecutionContext): Caller | null =>
    context.switchToHttp().getRequest<AuthenticatedRequest>().caller ?? null,
);

/** Authenticates every request and holds it against the roles of its route. */
@Injectable()
export class BearerGuard implements CanActivate {
  constructor(
    private readonly verifier: TokenVerifier,
    private readonly settings: Settings,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const access = accessOf(context.getHandler(), context.getClass());
    if (access === 'public') return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const isOpen = Reflect.getMetadata(OPEN_KEY, context.getHandler()) as OpenRule | undefined;
    if (isOpen?.(this.settings, request.socket?.remoteAddress) === true) return true;
    if (isSigned(context.getHandler()) && request.headers.authorization === undefined) return true;
    const token = bearerToken(request.headers.authorization);
    if (token === null) throw new CountersignError('unauthenticated', 'a bearer token is required');
    const caller = await this.verifier.verify(token);
    if (!hasRole(caller, ...access) && !isForEverybody(access)) {
      throw new CountersignError('not_authorized', 'the token has none of the roles this operation needs');
    }
    request.caller = caller;
    return true;
  }
}

/** A route that every role may call decides for itself, and records whom it refuses. */
export const isForEverybody = (roles: readonly Role[]): boolean => ROLES.every((role) => roles.includes(role));
