import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { Credentials } from './credentials.js';

const NAME = 'COUNTERSIGN_SPEC_CREDENTIAL';
const SECRET = 'hunter2-hunter2-hunter2';
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'secrets-'));
  process.env[NAME] = SECRET;
});

afterEach(() => {
  rmSync(dir, { recursive: true });
  delete process.env[NAME];
});

const withSecret = (secret: string, scheme: string | null = 'Bearer'): Credentials =>
  new Credentials({ credentials: { payments: { secret, header: 'authorization', scheme } } });

describe('the credentials of the tools', () => {
  it('come from the environment, with their scheme in front', () => {
    expect(withSecret(`env:${NAME}`).header('payments').reveal()).toEqual({ authorization: `Bearer ${SECRET}` });
    expect(withSecret(`env:${NAME}`, null).header('payments').reveal()).toEqual({ authorization: SECRET });
  });

  it('come from a file, without the space around them', () => {
    writeFileSync(join(dir, 'key'), ` ${SECRET}\n`);
    expect(
      withSecret(`file:${join(dir, 'key')}`, null)
        .header('payments')
        .reveal(),
    ).toEqual({ authorization: SECRET });
  });

  it('print as what they are and never as what they hold', () => {
    const credentials = withSecret(`env:${NAME}`);
    const header = credentials.header('payments');
    const printed = [
      String(header),
      JSON.stringify(header),
      JSON.stringify({ header }),
      inspect(header, { depth: 9, showHidden: true }),
      inspect(credentials, { depth: 9, showHidden: true }),
      JSON.stringify(credentials),
      Object.values(header).join(),
    ].join('\n');
    expect(printed).not.toContain(SECRET);
    expect(String(header)).toBe(`[secret:env:${NAME}]`);
  });

  it('are taken out of what comes from outside', () => {
    expect(withSecret(`env:${NAME}`).scrub(`the key is ${SECRET}, or so`)).not.toContain(SECRET);
  });

  it('are known by name, and an unknown name is a broken invariant', () => {
    const credentials = withSecret(`env:${NAME}`);
    expect(credentials.has('payments')).toBe(true);
    expect(credentials.has('other')).toBe(false);
    expect(() => credentials.header('other')).toThrow('credential other is not configured');
  });

  it('stop the start where they have no value, all of them at once and by reference alone', () => {
    writeFileSync(join(dir, 'empty'), '\n');
    const credential = (secret: string) => ({ secret, header: 'authorization', scheme: null });
    let thrown: unknown = null;
    try {
      thrown = new Credentials({
        credentials: {
          a: credential('env:COUNTERSIGN_SPEC_MISSING'),
          b: credential(`file:${join(dir, 'missing')}`),
          c: credential(`file:${join(dir, 'empty')}`),
          d: credential(`env:${NAME}`),
        },
      });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(CountersignError);
    expect((thrown as CountersignError).details.problems).toEqual([
      'credentials.a.secret: env:COUNTERSIGN_SPEC_MISSING has no value',
      `credentials.b.secret: file:${join(dir, 'missing')} has no value`,
      `credentials.c.secret: file:${join(dir, 'empty')} has no value`,
    ]);
  });
});
