import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { RouteOptions } from 'fastify';

class Root {}

/** `METHOD /path/{parameter}` of every route that Fastify really has for these controllers. What they work with is left out. */
export async function registeredRoutes(controllers: Type[]): Promise<string[]> {
  const adapter = new FastifyAdapter({ exposeHeadRoutes: false } as ConstructorParameters<typeof FastifyAdapter>[0]);
  const routes: string[] = [];
  adapter.getInstance().addHook('onRoute', ({ method, url }: RouteOptions) => {
    for (const each of [method].flat()) routes.push(`${each} ${url.replace(/:(\w+)/g, '{$1}')}`);
  });
  const app = await NestFactory.create({ module: Root, controllers, providers: stubsFor(controllers) }, adapter, {
    logger: false,
    bodyParser: false,
    abortOnError: false,
  });
  await app.init();
  await app.close();
  return routes.sort();
}

function stubsFor(controllers: readonly Type[]): { readonly provide: Type; readonly useValue: object }[] {
  const needed = controllers.flatMap(
    (controller) => (Reflect.getMetadata('design:paramtypes', controller) ?? []) as readonly Type[],
  );
  return [...new Set(needed)].map((provide) => ({ provide, useValue: {} }));
}
