import { All, Controller, Delete, Get, Post } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { AllowRoles, Public } from '../../identity/bearer.guard.js';
import { Implements, type Operation } from './operation.js';
import { routesOf } from './routes.js';

const operation: Operation = { id: 'x', tag: 'Runs', summary: 'x', answers: {}, refusals: [] };

@Controller('v1/things')
@AllowRoles('auditor')
class Things {
  @Get()
  @Implements(operation)
  list(): void {}

  @Post(':thingId/parts/:partId')
  @AllowRoles('operator')
  add(): void {}

  @Delete('all')
  @Public()
  remove(): void {}

  helper(): void {}
}

@Controller()
class Anything {
  @All('x')
  any(): void {}
}

describe('the routes of controllers', () => {
  it('are their handlers, with method, path, who may call them and what they implement', () => {
    expect(routesOf([Things])).toEqual([
      { method: 'get', path: '/v1/things', access: ['auditor'], operation },
      { method: 'post', path: '/v1/things/{thingId}/parts/{partId}', access: ['operator'], operation: null },
      { method: 'delete', path: '/v1/things/all', access: 'public', operation: null },
    ]);
  });

  it('are refused when no document can say what they answer to', () => {
    expect(() => routesOf([Anything])).toThrow('a route of method all');
  });
});
