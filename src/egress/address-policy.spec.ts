import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { classifyAddress, isAddressAllowed, isAllowEntryValid } from './address-policy.js';

const bytes = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 });

function dotted(octets: readonly number[]): string {
  return octets.join('.');
}

function groups(octets: readonly number[]): string {
  const [a = 0, b = 0, c = 0, d = 0] = octets;
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

describe('classifyAddress', () => {
  it.each([
    ['8.8.8.8', 'public'],
    ['1.1.1.1', 'public'],
    ['2606:4700:4700::1111', 'public'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['::1', 'loopback'],
    ['10.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['fc00::1', 'private'],
    ['fdff::1', 'private'],
    ['fec0::1', 'private'],
    ['169.254.1.1', 'link_local'],
    ['fe80::1', 'link_local'],
    ['fe80::1%eth0', 'link_local'],
    ['169.254.169.254', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['::', 'unspecified'],
    ['100.64.0.1', 'carrier_grade_nat'],
    ['100.127.255.255', 'carrier_grade_nat'],
    ['224.0.0.1', 'multicast'],
    ['ff02::1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['240.0.0.1', 'reserved'],
    ['192.0.0.1', 'reserved'],
    ['192.88.99.1', 'reserved'],
    ['100::1', 'reserved'],
    ['4000::1', 'reserved'],
    ['192.0.2.1', 'documentation'],
    ['198.51.100.7', 'documentation'],
    ['203.0.113.7', 'documentation'],
    ['2001:db8::1', 'documentation'],
    ['3fff::1', 'documentation'],
    ['198.18.0.1', 'benchmarking'],
    ['2001:2::1', 'benchmarking'],
  ])('knows what %s is for', (ip, expected) => {
    expect(classifyAddress(ip)).toBe(expected);
  });

  it.each([
    ['100.63.255.255'],
    ['100.128.0.0'],
    ['172.15.255.255'],
    ['172.32.0.0'],
    ['169.253.255.255'],
    ['126.255.255.255'],
    ['128.0.0.0'],
    ['223.255.255.255'],
  ])('takes %s, just outside a special range, for public', (ip) => {
    expect(classifyAddress(ip)).toBe('public');
  });

  it.each([
    ['mapped', '::ffff:7f00:1'],
    ['mapped, dotted', '::ffff:127.0.0.1'],
    ['compatible', '::7f00:1'],
    ['translated', '::ffff:0:7f00:1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['local-use NAT64', '64:ff9b:1::7f00:1'],
    ['local-use NAT64 with a prefix of 64', '64:ff9b:1:0:7f:0:100:0'],
    ['6to4', '2002:7f00:1::'],
    ['Teredo server', '2001:0:7f00:1::f7f7:f7f7'],
    ['Teredo client', '2001:0:808:808::80ff:fffe'],
    ['ISATAP', '2606:4700::5efe:7f00:1'],
  ])('sees a loopback address in its %s form', (_form, ip) => {
    expect(['loopback', 'unspecified']).toContain(classifyAddress(ip));
    expect(isAddressAllowed(ip, [])).toBe(false);
    expect(isAddressAllowed(ip, ['private', 'link_local', 'reserved', 'unspecified'])).toBe(false);
  });

  it('sees a metadata endpoint in every wrapping', () => {
    for (const ip of ['::ffff:a9fe:a9fe', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::', '64:ff9b:1:a9fe:a9:fe00::']) {
      expect(classifyAddress(ip)).toBe('metadata');
    }
  });

  it('judges a public address the same inside its mapped, NAT64 and 6to4 forms', () => {
    for (const ip of ['::ffff:808:808', '64:ff9b::808:808', '2002:808:808::1'])
      expect(classifyAddress(ip)).toBe('public');
  });

  it('never finds an address better in disguise than it is in the open', () => {
    fc.assert(
      fc.property(bytes, (octets) => {
        const tail = groups(octets);
        const disguises = [`::ffff:${tail}`, `64:ff9b::${tail}`, `64:ff9b:1::${tail}`, `2002:${tail}::`];
        const allowed = disguises.filter((disguised) => isAddressAllowed(disguised, []));
        expect(isAddressAllowed(dotted(octets), []) ? [] : allowed).toEqual([]);
      }),
    );
  });

  it.each([['2130706433'], ['0177.0.0.1'], ['0x7f.1'], ['0x7f000001'], ['127.1']])(
    'reads the notation %s as what it reaches',
    (ip) => {
      expect(classifyAddress(ip)).toBe('loopback');
    },
  );

  it.each([
    [''],
    [' '],
    ['localhost'],
    ['1.2.3.4.5'],
    ['256.1.1.1'],
    ['::ffff:0177.0.0.1'],
    [':::'],
    ['8.8.8.8/32'],
    ['8.8.8.8%eth0'],
  ])('calls %p invalid and never allows it', (text) => {
    expect(classifyAddress(text)).toBe('invalid');
    expect(isAddressAllowed(text, ['0.0.0.0/0', '::/0', 'invalid', 'public'])).toBe(false);
  });

  it('answers for any text without throwing', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(typeof classifyAddress(text)).toBe('string');
      }),
    );
  });
});

describe('isAddressAllowed', () => {
  it('allows a public address without being asked to', () => {
    expect(isAddressAllowed('8.8.8.8', [])).toBe(true);
    expect(isAddressAllowed('2606:4700:4700::1111', [])).toBe(true);
  });

  it('allows another class only by its own name', () => {
    expect(isAddressAllowed('127.0.0.1', ['loopback'])).toBe(true);
    expect(isAddressAllowed('::1', ['loopback'])).toBe(true);
    expect(isAddressAllowed('::ffff:127.0.0.1', ['loopback'])).toBe(true);
    expect(isAddressAllowed('127.0.0.1', ['private'])).toBe(false);
    expect(isAddressAllowed('10.1.2.3', ['private'])).toBe(true);
    expect(isAddressAllowed('0.0.0.0', ['loopback'])).toBe(false);
  });

  it('allows by a range or a single address that covers it', () => {
    expect(isAddressAllowed('10.1.2.3', ['10.1.0.0/16'])).toBe(true);
    expect(isAddressAllowed('10.2.2.3', ['10.1.0.0/16'])).toBe(false);
    expect(isAddressAllowed('10.1.2.3', ['10.1.2.3'])).toBe(true);
    expect(isAddressAllowed('::ffff:10.1.2.3', ['10.1.0.0/16'])).toBe(true);
    expect(isAddressAllowed('fd12::1', ['fd12::/32'])).toBe(true);
    expect(isAddressAllowed('10.1.2.3', ['::/0'])).toBe(false);
  });

  it('allows a range up to its last bit and not beyond', () => {
    expect(isAddressAllowed('10.0.0.127', ['10.0.0.0/25'])).toBe(true);
    expect(isAddressAllowed('10.0.0.128', ['10.0.0.0/25'])).toBe(false);
  });

  it('opens a metadata endpoint only to a range written for it', () => {
    for (const ip of ['169.254.169.254', '::ffff:169.254.169.254']) {
      expect(isAddressAllowed(ip, ['link_local', 'private', 'metadata', 'public'])).toBe(false);
      expect(isAddressAllowed(ip, ['0.0.0.0/0', '169.254.0.0/16'])).toBe(false);
      expect(isAddressAllowed(ip, ['169.254.169.254/32'])).toBe(true);
      expect(isAddressAllowed(ip, ['169.254.169.254'])).toBe(true);
    }
    expect(isAddressAllowed('fd00:ec2::254', ['private', 'fd00::/8'])).toBe(false);
    expect(isAddressAllowed('fd00:ec2::254', ['fd00:ec2::254/128'])).toBe(true);
    expect(isAddressAllowed('100.100.100.200', ['carrier_grade_nat', '100.64.0.0/10'])).toBe(false);
    expect(isAddressAllowed('100.100.100.200', ['100.100.100.0/24'])).toBe(true);
  });

  it('lets a range for the outer address speak for what is inside, except for metadata', () => {
    expect(isAddressAllowed('64:ff9b:1::808:808', ['64:ff9b:1::/48'])).toBe(true);
    expect(isAddressAllowed('64:ff9b:1::a9fe:a9fe', ['64:ff9b:1::/48'])).toBe(false);
  });

  it('gives entries without meaning no effect', () => {
    expect(
      isAddressAllowed('127.0.0.1', ['', '*', 'any', '127.0.0.1/33', '127.0.0.1/-1', 'LOOPBACK', 'localhost']),
    ).toBe(false);
  });
});

describe('isAllowEntryValid', () => {
  it('accepts classes that can be opened, ranges and addresses', () => {
    for (const entry of ['loopback', 'private', '10.0.0.0/8', 'fd00::/8', '10.0.0.1', '::1']) {
      expect(isAllowEntryValid(entry)).toBe(true);
    }
  });

  it('refuses everything that would silently open nothing', () => {
    for (const entry of ['', 'metadata', 'public', 'invalid', 'localhost', '10.0.0.0/33', 'fe80::1%eth0', '*']) {
      expect(isAllowEntryValid(entry)).toBe(false);
    }
  });
});
