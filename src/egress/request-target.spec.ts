import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseRequestTarget, type RequestTarget, type TargetProblem } from './request-target.js';

function targetOf(text: string): RequestTarget {
  const parsed = parseRequestTarget(text);
  if (!parsed.ok) throw new Error(`refused with ${parsed.problem}`);
  return parsed.target;
}

function problemOf(text: string): TargetProblem | null {
  const parsed = parseRequestTarget(text);
  return parsed.ok ? null : parsed.problem;
}

describe('parseRequestTarget', () => {
  it('splits a plain URL into origin, host and what stands in the request line', () => {
    expect(targetOf('https://api.example.com/v1/refunds?dry=1')).toEqual({
      origin: 'https://api.example.com',
      hostname: 'api.example.com',
      literalAddress: null,
      path: '/v1/refunds?dry=1',
    });
    expect(targetOf('http://api.example.com:8080').path).toBe('/');
    expect(targetOf('HTTPS://API.Example.COM:443/x').origin).toBe('https://api.example.com');
  });

  it('keeps percent-encoded slashes in the path as they are', () => {
    expect(targetOf('https://api.example.com/a%2Fb/..%2Fc').path).toBe('/a%2Fb/..%2Fc');
  });

  it.each([
    ['http://2130706433/', '127.0.0.1'],
    ['http://0177.0.0.1/', '127.0.0.1'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['http://0x7f000001/', '127.0.0.1'],
    ['http://127.1/', '127.0.0.1'],
    ['http://127.0.0.1./', '127.0.0.1'],
    ['http://[::1]/', '::1'],
    ['http://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
    ['http://[0:0:0:0:0:0:0:0]/', '::'],
  ])('recognises %s as the address %s', (url, address) => {
    expect(targetOf(url).literalAddress).toBe(address);
  });

  it('drops the dot that ends a fully qualified name', () => {
    expect(targetOf('http://localhost.:81/x')).toMatchObject({ hostname: 'localhost', origin: 'http://localhost:81' });
  });

  it.each<[string, TargetProblem]>([
    ['http://user@host/', 'url_userinfo'],
    ['http://user:secret@host/', 'url_userinfo'],
    ['http://@host/', 'url_userinfo'],
    ['http://good.example@127.0.0.1/', 'url_userinfo'],
    ['ftp://host/', 'url_invalid'],
    ['file:///etc/passwd', 'url_invalid'],
    ['//host/', 'url_invalid'],
    ['/path', 'url_invalid'],
    ['', 'url_invalid'],
    ['http:host/', 'url_invalid'],
    ['http://', 'url_host'],
    ['http:///path', 'url_host'],
    ['http://host..example/', 'url_host'],
    ['http://host../', 'url_host'],
    ['http://.host/', 'url_host'],
    ['http://host:0/', 'url_host'],
    ['http://host:99999/', 'url_host'],
    ['http://256.256.256.256/', 'url_host'],
    ['http://[fe80::1%25eth0]/', 'url_host'],
    ['http://[fe80::1%eth0]/', 'url_host'],
    ['http://%31%32%37.0.0.1/', 'url_host'],
    ['http://１２７.0.0.1/', 'url_host'],
    ['http://ⓛocalhost/', 'url_host'],
    ['http://аpple.com/', 'url_host'],
    ['http://host\u3002example/', 'url_host'],
    ['http://host\\@evil/', 'url_invalid'],
    ['http://ho\tst/', 'url_invalid'],
    ['http://host/a\r\nx: y', 'url_invalid'],
    [' http://host/', 'url_invalid'],
    ['http://host/a b', 'url_invalid'],
    ['http://host/a\u0000b', 'url_invalid'],
    ['http://host/refunds/../admin', 'url_path'],
    ['http://host/refunds/%2e%2E/admin', 'url_path'],
    ['http://host/refunds/.', 'url_path'],
    ['http://host/x#y', 'url_fragment'],
    [`http://host/${'a'.repeat(9_000)}`, 'url_invalid'],
  ])('refuses %j as %s', (url, problem) => {
    expect(problemOf(url)).toBe(problem);
  });

  it('sends every path that is not refused without a change that would lead elsewhere', () => {
    const segment = fc.stringMatching(/^[A-Za-z0-9%._~-]{0,8}$/);
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 5 }), (segments) => {
        const path = `/${segments.join('/')}`;
        const parsed = parseRequestTarget(`https://api.example.com${path}`);
        expect([path, 'url_path']).toContain(parsed.ok ? parsed.target.path : parsed.problem);
      }),
    );
  });

  it('answers for any text without throwing', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((text) => `http://${text}`),
        ),
        (text) => {
          expect(typeof parseRequestTarget(text).ok).toBe('boolean');
        },
      ),
    );
  });
});
