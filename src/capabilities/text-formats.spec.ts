import { describe, expect, it } from '@jest/globals';
import { TEXT_FORMATS } from './text-formats.js';

const CASES: readonly (readonly [format: string, good: readonly string[], bad: readonly string[]])[] = [
  [
    'date',
    ['2031-01-31', '2028-02-29', '0001-01-01', '9999-12-31'],
    [
      '2031-02-29',
      '2031-13-01',
      '2031-00-01',
      '2031-04-31',
      '31-01-01',
      '2031-1-1',
      '2031-01-01T00:00:00Z',
      '',
      '2031-01-01\n',
    ],
  ],
  [
    'date-time',
    ['2031-01-01T00:00:00Z', '2031-01-01T23:59:59.123456789+02:00', '2028-02-29T12:00:00-11:30'],
    [
      '2031-01-01',
      '2031-01-01T00:00:00',
      '2031-02-30T00:00:00Z',
      '2031-01-01T24:00:00Z',
      '2031-01-01T00:60:00Z',
      '2031-01-01T00:00:60Z',
      '2031-01-01 00:00:00Z',
      '2031-01-01T00:00:00+24:00',
      '2031-01-01t00:00:00z',
      '2031-01-01T00:00:00Z\n',
    ],
  ],
  [
    'uuid',
    ['f81d4fae-7dec-11d0-a765-00a0c91e6bf6', 'F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6'],
    [
      'f81d4fae7dec11d0a76500a0c91e6bf6',
      'urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
      'f81d4fae-7dec-11d0-a765-00a0c91e6bfg',
      '',
    ],
  ],
  [
    'email',
    ['kim@example.com', "o'neil+x@sub.example.co", 'a.b@x-y.z'],
    [
      '',
      '@',
      'a@b',
      'a@@b.c',
      'a b@c.d',
      '.a@b.c',
      'a.@b.c',
      'a..b@c.d',
      'a@-b.c',
      'a@b-.c',
      'a@b..c',
      'a@b.c\n',
      `${'a'.repeat(65)}@b.c`,
      'ä@b.c',
      `a@${'b.'.repeat(130)}c`,
    ],
  ],
  [
    'uri',
    ['https://example.com/a?b=c#d', 'mailto:kim@example.com', 'urn:isbn:0451450523', 'https://[::1]:80/%20'],
    [
      '',
      'example.com',
      '/a/b',
      'https://exa mple.com',
      'https://example.com/\u00e9',
      'https://example.com/%2',
      'https:// ',
      'https://a\nb',
      '//x',
    ],
  ],
];

describe('text formats', () => {
  it.each(CASES)('%s takes what its standard says and nothing else', (format, good, bad) => {
    const check = TEXT_FORMATS[format] as (text: string) => boolean;
    expect(good.filter((text) => !check(text))).toEqual([]);
    expect(bad.filter((text) => check(text))).toEqual([]);
  });

  it('has a case for every format', () => {
    expect(CASES.map(([format]) => format).toSorted()).toEqual(Object.keys(TEXT_FORMATS).toSorted());
  });

  it.each(Object.keys(TEXT_FORMATS))('%s takes linear time for texts made to hurt', (format) => {
    const check = TEXT_FORMATS[format] as (text: string) => boolean;
    const started = performance.now();
    for (const unit of ['a', 'a.', 'a-', '1', '1-', '%', '%2', '@', 'a@', 'http:', '/', '.', ':']) {
      const text = unit.repeat(Math.floor(200_000 / unit.length));
      for (const whole of [text, `a:${text}`, `a@${text}`, `${text}@a`, `2031-01-01T00:00:00.${text}`]) check(whole);
    }
    expect(performance.now() - started).toBeLessThan(3_000);
  });
});
