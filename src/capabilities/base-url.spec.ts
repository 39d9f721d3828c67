import { describe, expect, it } from '@jest/globals';
import { resolveBaseUrl } from './base-url.js';

const UPSTREAMS = {
  payments: 'http://127.0.0.1:7412/',
  'shop-2': 'https://shop.example.com/api/v2',
  bad: 'https://u:p@x.example',
};

describe('a base URL', () => {
  it.each([
    ['https://example.com', 'https://example.com'],
    ['https://example.com/', 'https://example.com'],
    ['HTTPS://Example.COM:443/api/', 'https://example.com/api'],
    ['http://[::1]:8080/a/b', 'http://[::1]:8080/a/b'],
    ['http://2130706433/x', 'http://127.0.0.1/x'],
    ['upstream:payments', 'http://127.0.0.1:7412'],
    ['upstream:shop-2', 'https://shop.example.com/api/v2'],
  ])('%s is %s', (text, url) => {
    expect(resolveBaseUrl(text, UPSTREAMS)).toEqual({ ok: true, url });
  });

  it.each([
    'example.com',
    '/api',
    'ftp://example.com',
    'file:///etc/passwd',
    'https://user:password@example.com',
    'https://example.com/a?b=c',
    'https://example.com/a#b',
    'https://example.com/a/../b',
    'https://example.com/a/%2e%2e/b',
    'https://example.com/a//b',
    'https://example.com/a%20b',
    'https://example.com/a"b',
    'https://exämple.com',
    'https://example.com\\@evil.example',
    'https://example.com/a\nb',
    'https://',
    '${PAYMENTS_URL}',
    'https://{args.host}/x',
    'upstream:',
    'upstream:other',
    'upstream:toString',
    'upstream:__proto__',
    'upstream:payments/x',
    'upstream:bad',
  ])('is not %p', (text) => {
    expect(resolveBaseUrl(text, UPSTREAMS).ok).toBe(false);
  });

  it('says that the fault is in the settings where it is', () => {
    expect(resolveBaseUrl('upstream:bad', UPSTREAMS)).toMatchObject({
      message: expect.stringContaining('in the settings'),
    });
  });
});
