import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { accessOf, type Access } from '../../identity/bearer.guard.js';
import { OPERATION_KEY, type Operation } from './operation.js';

/** A route as Nest serves it, and the operation that its handler says it implements. */
export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As OpenAPI writes it: `/v1/runs/{runId}`. */
  readonly path: string;
  readonly access: Access;
  /** Null when nobody has described it; such a route is not in the document. */
  readonly operation: Operation | null;
}

/** The routes of controllers, by what Nest itself and the guard read from them. */
export function routesOf(controllers: readonly Type[]): Route[] {
  return controllers.flatMap((controller) => {
    const prefix = Reflect.getMetadata(PATH_METADATA, controller) as string;
    const handlers = handlersOf(controller).filter((handler) => Reflect.hasMetadata(METHOD_METADATA, handler));
    return handlers.map((handler) => ({
      method: methodOf(handler),
      path: pathOf(prefix, Reflect.getMetadata(PATH_METADATA, handler) as string),
      access: accessOf(handler, controller),
      operation: (Reflect.getMetadata(OPERATION_KEY, handler) as Operation | undefined) ?? null,
    }));
  });
}

type Handler = (...args: never[]) => unknown;

function handlersOf(controller: Type): Handler[] {
  const prototype = controller.prototype as Readonly<Record<string, unknown>>;
  return Object.getOwnPropertyNames(prototype)
    .map((name) => prototype[name])
    .filter((value): value is Handler => typeof value === 'function');
}

function methodOf(handler: Handler): Route['method'] {
  const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod;
  const name = RequestMethod[method].toLowerCase();
  if (name === 'get' || name === 'post' || name === 'put' || name === 'patch' || name === 'delete') return name;
  throw new Error(`a route of method ${name} cannot be in the API document`);
}

function pathOf(prefix: string, path: string): string {
  const parts = [...prefix.split('/'), ...path.split('/')].filter((part) => part !== '');
  return `/${parts.map((part) => part.replace(/^:(\w+)$/, '{$1}')).join('/')}`;
}
