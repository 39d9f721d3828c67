import { Injectable, SetMetadata, createParamDecorator, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
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

interface AuthenticatedRequest {
  readonly headers: { readonly authorization?: string };
  caller?: Caller;
}

/** The verified caller of the request. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (caller === undefined) throw new Error('a route without the bearer guard asked for its caller');
  return caller;
});

/** Authenticates every request and holds it against the roles of its route. */
@Injectable()
export class BearerGuard implements CanActivate {
  constructor(
    private readonly verifier: TokenVerifier,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.get<boolean | undefined>(PUBLIC_KEY, context.getHandler()) === true) return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const match = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i.exec(request.headers.authorization ?? '');
    if (match === null) throw new CountersignError('unauthenticated', 'a bearer token is required');
    const caller = await this.verifier.verify(match[1] as string);
    const roles = this.reflector.getAllAndOverride<readonly Role[] | undefined>(ROLES_KEY, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (roles === undefined || !(hasRole(caller, ...roles) || isForEverybody(roles))) {
      throw new CountersignError('not_authorized', 'the token has none of the roles this operation needs');
    }
    request.caller = caller;
    return true;
  }
}

/** A route that every role may call decides for itself, and records whom it refuses. */
const isForEverybody = (roles: readonly Role[]): boolean => ROLES.every((role) => roles.includes(role));
