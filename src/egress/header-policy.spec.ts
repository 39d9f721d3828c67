import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { checkHeaders } from './header-policy.js';

describe('checkHeaders', () => {
  it('gives ordinary headers back with names in lower case and values untouched', () => {
    expect(
      checkHeaders({ 'Content-Type': 'application/json', 'Idempotency-Key': 'k-1', 'X-Note': 'caf\u00e9 \t!' }),
    ).toEqual({
      ok: true,
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k-1', 'x-note': 'caf\u00e9 \t!' },
    });
  });

  it.each([
    ['Host'],
    ['Content-Length'],
    ['transfer-encoding'],
    ['Connection'],
    ['Keep-Alive'],
    ['Proxy-Authorization'],
    ['proxy-connection'],
    ['Upgrade'],
    ['TE'],
    ['Trailer'],
    ['Expect'],
    ['Accept-Encoding'],
    ['Content-Encoding'],
  ])('refuses %s from templates and from credentials', (name) => {
    expect(checkHeaders({ [name]: 'x' })).toEqual({ ok: false, problem: 'header_forbidden' });
    expect(checkHeaders({}, { [name]: 'x' })).toEqual({ ok: false, problem: 'header_forbidden' });
  });

  it.each([['Authorization'], ['authorization'], ['COOKIE']])('takes %s from credentials only', (name) => {
    expect(checkHeaders({ [name]: 'x' })).toEqual({ ok: false, problem: 'header_needs_credential' });
    expect(checkHeaders({}, { [name]: 'x' })).toEqual({ ok: true, headers: { [name.toLowerCase()]: 'x' } });
  });

  it.each([
    ['a\rb'],
    ['a\nb'],
    ['a\r\nx-evil: 1'],
    ['a\0b'],
    ['\u0007'],
    ['\u007f'],
    ['\u0100'],
    ['\u560a'],
    ['\u2028'],
    ['😀'],
  ])('refuses the value %j', (value) => {
    expect(checkHeaders({ 'x-a': value })).toEqual({ ok: false, problem: 'header_value' });
    expect(checkHeaders({}, { authorization: value })).toEqual({ ok: false, problem: 'header_value' });
  });

  it.each([[''], ['a b'], ['a:b'], ['a\r\nb'], ['é'], ['x\0'], [' a'], ['(a)']])('refuses the name %j', (name) => {
    expect(checkHeaders({ [name]: 'x' })).toEqual({ ok: false, problem: 'header_name' });
  });

  it('refuses a value that is no string at run time', () => {
    const headers = { 'x-a': 1 } as unknown as Record<string, string>;
    expect(checkHeaders(headers)).toEqual({ ok: false, problem: 'header_value' });
  });

  it('refuses a name that occurs twice, in other case or in both sets', () => {
    expect(checkHeaders({ 'X-A': '1', 'x-a': '2' })).toEqual({ ok: false, problem: 'header_repeated' });
    expect(checkHeaders({ 'x-api-key': '1' }, { 'X-Api-Key': '2' })).toEqual({ ok: false, problem: 'header_repeated' });
  });

  it('refuses more than 32 KiB in total', () => {
    expect(checkHeaders({ 'x-a': 'a'.repeat(32_000) }).ok).toBe(true);
    expect(checkHeaders({ 'x-a': 'a'.repeat(20_000), 'x-b': 'b'.repeat(20_000) })).toEqual({
      ok: false,
      problem: 'headers_too_large',
    });
  });

  it('keeps `__proto__` an ordinary name', () => {
    const checked = checkHeaders(JSON.parse('{"__proto__":"x"}') as Record<string, string>);
    expect(checked.ok && Object.keys(checked.headers)).toEqual(['__proto__']);
  });

  it('lets no character through that ends a line, and repeats no value in a refusal', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string({ unit: 'binary' })), (headers) => {
        const checked = checkHeaders(headers);
        const written = checked.ok ? Object.entries(checked.headers).flat().join('') : '';
        expect(/[\r\n\0]/.test(written)).toBe(false);
        expect(Object.keys(checked)).toEqual(checked.ok ? ['ok', 'headers'] : ['ok', 'problem']);
      }),
    );
  });
});
