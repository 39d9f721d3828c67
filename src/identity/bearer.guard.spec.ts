import { describe, expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { settingsWith } from '../../test/builders/settings-examples.js';
import type { Settings } from '../config/settings.js';
import { callerWith } from '../../test/builders/installation.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { AllowRoles, BearerGuard, OpenIf, Public } from './bearer.guard.js';
import type { Caller } from './caller.js';
import type { TokenVerifier } from './token-verifier.js';

class Routes {
  @AllowRoles('operator', 'auditor')
  forOperators(): void {}

  @Public()
  forEverybody(): void {}

  forNobody(): void {}

  @AllowRoles('operator')
  @OpenIf(({ metrics }, address) => metrics.access === 'loopback' && address === '::1')
  forWhomTheSettingsSay(): void {}
}

@AllowRoles('approver')
class ApproverRoutes {
  inherited(): void {}

  @AllowRoles('harness')
  own(): void {}
}

const seen: string[] = [];

interface Asked {
  readonly authorization?: string;
  readonly route: () => void;
  readonly of?: new () => object;
  readonly roles?: Caller['roles'];
  readonly settings?: Settings;
  readonly address?: string;
}

async function answer(asked: Asked): Promise<unknown> {
  const { authorization, route, of = Routes, roles = ['operator'], settings = settingsWith(), address } = asked;
  const caller = callerWith({ roles, isAgent: roles.includes('harness') });
  const verifier = {
    async verify(token: string): Promise<Caller> {
      seen.push(token);
      if (token === 'bad') throw new CountersignError('unauthenticated', 'no');
      return caller;
    },
  };
  const request: { headers: object; socket: object; caller?: Caller } = {
    socket: { remoteAddress: address },
    headers: authorization === undefined ? {} : { authorization },
  };
  const context = {
    getHandler: () => route,
    getClass: () => of,
    switchToHttp: () => ({ getRequest: () => request }),
  };
  const guard = new BearerGuard(verifier as unknown as TokenVerifier, settings);
  try {
    const passed = await guard.canActivate(context as unknown as ExecutionContext);
    return passed && (request.caller === caller ? 'with its caller' : 'without a caller');
  } catch (error) {
    if (error instanceof CountersignError)
      return `${error.code}${request.caller === undefined ? '' : ' with a caller'}`;
    throw error;
  }
}

const routes = Routes.prototype;

describe('the guard of every route', () => {
  it('lets in whoever has one of the roles of the route, and says who it is', async () => {
    expect(await answer({ authorization: 'Bearer good', route: routes.forOperators })).toBe('with its caller');
    expect(await answer({ authorization: 'bearer good', route: routes.forOperators })).toBe('with its caller');
  });

  it('refuses whoever has none of them, and leaves no caller on the request', async () => {
    expect(await answer({ authorization: 'Bearer good', route: routes.forOperators, roles: ['harness'] })).toBe(
      'not_authorized',
    );
    expect(await answer({ authorization: 'Bearer good', route: routes.forOperators, roles: [] })).toBe(
      'not_authorized',
    );
  });

  it('refuses everybody on a route that names no roles', async () => {
    expect(await answer({ authorization: 'Bearer good', route: routes.forNobody })).toBe('not_authorized');
  });

  it('lets a method narrow the roles of its class', async () => {
    const { inherited, own } = ApproverRoutes.prototype;
    const asked = { authorization: 'Bearer good', of: ApproverRoutes, roles: ['approver'] } as const;
    expect(await answer({ ...asked, route: inherited })).toBe('with its caller');
    expect(await answer({ ...asked, route: own })).toBe('not_authorized');
  });

  it('asks nobody on a public route', async () => {
    seen.length = 0;
    expect(await answer({ route: routes.forEverybody })).toBe('without a caller');
    expect(seen).toEqual([]);
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Basic YTpi',
    'Bearer a b',
    'Bearer a,Bearer b',
    ' Bearer good',
    'Bearer gö',
  ])('refuses the header "%s" without looking at a token', async (authorization) => {
    seen.length = 0;
    const header = authorization === undefined ? {} : { authorization };
    expect(await answer({ ...header, route: routes.forOperators })).toBe('unauthenticated');
    expect(seen).toEqual([]);
  });

  it('asks nobody for a token on a route that the settings open to them, and everybody else as ever', async () => {
    const route = routes.forWhomTheSettingsSay;
    const settings = settingsWith({ metrics: { access: 'loopback' } });
    expect(await answer({ route, settings, address: '::1' })).toBe('without a caller');
    expect(await answer({ route, settings, address: '10.0.0.1' })).toBe('unauthenticated');
    expect(await answer({ route, address: '::1' })).toBe('unauthenticated');
    expect(await answer({ route, authorization: 'Bearer good' })).toBe('with its caller');
    expect(await answer({ route, authorization: 'Bearer good', roles: ['auditor'] })).toBe('not_authorized');
  });

  it('refuses what the verifier refuses', async () => {
    expect(await answer({ authorization: 'Bearer bad', route: routes.forOperators })).toBe('unauthenticated');
  });
});
