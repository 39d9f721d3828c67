import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * What an address is for, from harmless to dangerous: where one address means several (an IPv4 address inside an IPv6 one),
 * the one further down this list wins.
 */
export const ADDRESS_CLASSES = [
  'public',
  'documentation',
  'benchmarking',
  'reserved',
  'multicast',
  'broadcast',
  'carrier_grade_nat',
  'private',
  'link_local',
  'loopback',
  'unspecified',
  'metadata',
  'invalid',
] as const;

export type AddressClass = (typeof ADDRESS_CLASSES)[number];

/** Network order; 4 bytes are IPv4, 16 bytes are IPv6. */
export type AddressBytes = readonly number[];

export interface AddressRange {
  readonly bytes: AddressBytes;
  readonly prefixBits: number;
}

type RangeRow = readonly [AddressClass, ...string[]];

/**
 * The first row that covers an address names its class, so a narrow range stands above the wide one it lies in.
 * Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890) and the metadata endpoints that AWS, Azure,
 * Alibaba, Google and Oracle document.
 */
const IPV4_ROWS: readonly RangeRow[] = [
  ['metadata', '169.254.169.254/32', '169.254.170.2/32', '169.254.170.23/32'],
  ['metadata', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
  ['unspecified', '0.0.0.0/8'],
  ['loopback', '127.0.0.0/8'],
  ['link_local', '169.254.0.0/16'],
  ['private', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  ['carrier_grade_nat', '100.64.0.0/10'],
  ['broadcast', '255.255.255.255/32'],
  ['multicast', '224.0.0.0/4'],
  ['documentation', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'],
  ['benchmarking', '198.18.0.0/15'],
  ['reserved', '240.0.0.0/4', '192.0.0.0/24', '192.88.99.0/24'],
  ['reserved', '192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24'],
];

const IPV6_ROWS: readonly RangeRow[] = [
  ['metadata', 'fd00:ec2::254/128', 'fd00:ec2::23/128', 'fd20:ce::254/128'],
  ['unspecified', '::/128'],
  ['loopback', '::1/128'],
  ['link_local', 'fe80::/10'],
  // Unique local (RFC 4193) and the site-local block it replaced (RFC 3879).
  ['private', 'fc00::/7', 'fec0::/10'],
  ['multicast', 'ff00::/8'],
  ['documentation', '2001:db8::/32', '3fff::/20'],
  ['benchmarking', '2001:2::/48'],
  // These wrap an IPv4 address and have no meaning of their own; EMBEDDINGS reads what is inside.
  ['public', '::ffff:0:0/96', '64:ff9b::/96', '2002::/16', '2001::/32'],
  ['reserved', '2001::/23', '2620:4f:8000::/48'],
  ['public', '2000::/3'],
  // RFC 4291 section 2.4 gives nothing else to unicast that is globally reachable.
  ['reserved', '::/0'],
];

interface Embedding {
  readonly range: AddressRange;
  /** Byte offsets of the embedded IPv4 addresses, each in order. */
  readonly offsets: readonly AddressBytes[];
  readonly inverted?: AddressBytes;
}

const LAST_FOUR: AddressBytes = [12, 13, 14, 15];

const EMBEDDINGS: readonly Embedding[] = [
  // IPv4-mapped, IPv4-compatible (RFC 4291 section 2.5.5), IPv4-translated (RFC 2765), NAT64 (RFC 6052).
  { range: range('::ffff:0:0/96'), offsets: [LAST_FOUR] },
  { range: range('::/96'), offsets: [LAST_FOUR] },
  { range: range('::ffff:0:0:0/96'), offsets: [LAST_FOUR] },
  { range: range('64:ff9b::/96'), offsets: [LAST_FOUR] },
  // Local-use NAT64 (RFC 8215): where the address sits depends on the prefix length its operator chose (RFC 6052 section 2.2).
  { range: range('64:ff9b:1::/48'), offsets: [LAST_FOUR, [6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12]] },
  // 6to4 (RFC 3056), Teredo: server, and client with every bit flipped (RFC 4380 section 4).
  { range: range('2002::/16'), offsets: [[2, 3, 4, 5]] },
  { range: range('2001::/32'), offsets: [[4, 5, 6, 7]], inverted: LAST_FOUR },
];

const IPV4_RANGES = IPV4_ROWS.flatMap(rangesOf);
const IPV6_RANGES = IPV6_ROWS.flatMap(rangesOf);

function rangesOf([addressClass, ...ranges]: RangeRow): readonly { addressClass: AddressClass; range: AddressRange }[] {
  return ranges.map((text) => ({ addressClass, range: range(text) }));
}

function range(text: string): AddressRange {
  const [address, prefixBits] = ipaddr.parseCIDR(text);
  return { bytes: address.toByteArray(), prefixBits };
}

/**
 * Bytes of a textual address, or null when it is none. A zone id (`%eth0`) is ignored: it chooses an interface, not an address.
 * IPv4 is read as `inet_aton` reads it (octal, hex, fewer parts), so that such a spelling is judged by what it reaches.
 */
export function parseAddress(text: string): AddressBytes | null {
  if (text.includes(':')) {
    const address = text.split('%', 1)[0] ?? '';
    return isIPv6(address) ? ipaddr.IPv6.parse(address).toByteArray() : null;
  }
  return ipaddr.IPv4.isValid(text) ? ipaddr.IPv4.parse(text).toByteArray() : null;
}

/** A CIDR, or a single address as the range that holds only itself; null when it is neither. */
export function parseRange(text: string): AddressRange | null {
  if (ipaddr.isValidCIDR(text)) return range(text);
  const bytes = parseAddress(text);
  return bytes === null || text.includes('%') ? null : { bytes, prefixBits: bytes.length * 8 };
}

export function rangeCovers({ bytes, prefixBits }: AddressRange, address: AddressBytes): boolean {
  if (bytes.length !== address.length) return false;
  return bytes.every((byte, index) => {
    const bits = Math.min(Math.max(prefixBits - index * 8, 0), 8);
    const mask = (0xff << (8 - bits)) & 0xff;
    return (byte & mask) === ((address[index] ?? 0) & mask);
  });
}

/** The class of these bytes alone, without looking for an IPv4 address inside. */
export function classOfBytes(address: AddressBytes): AddressClass {
  const ranges = address.length === 4 ? IPV4_RANGES : IPV6_RANGES;
  return ranges.find((row) => rangeCovers(row.range, address))?.addressClass ?? 'public';
}

/** Every IPv4 address that a packet to this IPv6 address may end up at. */
export function embeddedAddresses(address: AddressBytes): readonly AddressBytes[] {
  const found: AddressBytes[] = [];
  for (const { range: wrapper, offsets, inverted } of EMBEDDINGS) {
    if (!rangeCovers(wrapper, address)) continue;
    found.push(...offsets.map((positions) => positions.map((position) => address[position] ?? 0)));
    if (inverted) found.push(inverted.map((position) => (address[position] ?? 0) ^ 0xff));
  }
  if (isIsatap(address)) found.push(address.slice(12));
  return found;
}

/** ISATAP (RFC 5214 section 6.1) hides the IPv4 address in the interface id, under any prefix. */
function isIsatap(address: AddressBytes): boolean {
  const [first, second, third, fourth] = address.slice(8, 12);
  return (first === 0 || first === 2) && second === 0 && third === 0x5e && fourth === 0xfe;
}
