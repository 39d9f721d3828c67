import {
  ADDRESS_CLASSES,
  classOfBytes,
  embeddedAddresses,
  parseAddress,
  parseRange,
  rangeCovers,
  type AddressBytes,
  type AddressClass,
  type AddressRange,
} from './address-ranges.js';

/** A metadata endpoint hands out credentials, so a range that happens to hold it is not consent: it must be named nearly alone. */
const METADATA_PREFIX_BITS_MIN = { ipv4: 24, ipv6: 120 };

/** Classes a manifest may open by name. `metadata` is missing on purpose, and `public` needs no opening. */
const OPENABLE_CLASSES: ReadonlySet<string> = new Set(
  ADDRESS_CLASSES.filter((name) => name !== 'public' && name !== 'metadata' && name !== 'invalid'),
);

interface Part {
  readonly bytes: AddressBytes;
  readonly addressClass: AddressClass;
}

/**
 * The class of a textual IP address. An IPv6 address that carries an IPv4 address (mapped, compatible, translated, NAT64, 6to4,
 * Teredo, ISATAP) has the worse class of both. Text that is no IP address is `invalid`; this never throws.
 */
export function classifyAddress(ip: string): AddressClass {
  const address = parseAddress(ip);
  if (address === null) return 'invalid';
  return partsOf(address).reduce<AddressClass>((worst, part) => worse(worst, part.addressClass), 'public');
}

/**
 * Whether a connection to `ip` may be opened. Public addresses always may. Any other needs an entry of `allow`: its class
 * (`loopback`, `private`, …), or a CIDR or address that covers it. A metadata endpoint needs a CIDR of /24 (IPv6: /120) or longer.
 * Of an address that carries another one every part must be allowed; a CIDR written for the outer address covers its parts.
 * Entries that are neither class nor range allow nothing.
 */
export function isAddressAllowed(ip: string, allow: readonly string[]): boolean {
  const address = parseAddress(ip);
  if (address === null) return false;
  const ranges = allow.flatMap((entry) => parseRange(entry) ?? []);
  return partsOf(address).every(
    (part) =>
      part.addressClass === 'public' ||
      (OPENABLE_CLASSES.has(part.addressClass) && allow.includes(part.addressClass)) ||
      ranges.some((range) => opens(range, part, address)),
  );
}

/** Whether an entry of an allow list means anything: registration refuses a manifest with one that does not. */
export function isAllowEntryValid(entry: string): boolean {
  return OPENABLE_CLASSES.has(entry) || parseRange(entry) !== null;
}

function opens(range: AddressRange, part: Part, outer: AddressBytes): boolean {
  if (!rangeCovers(range, part.bytes) && !rangeCovers(range, outer)) return false;
  if (part.addressClass !== 'metadata') return true;
  const bitsMin = range.bytes.length === 4 ? METADATA_PREFIX_BITS_MIN.ipv4 : METADATA_PREFIX_BITS_MIN.ipv6;
  return range.prefixBits >= bitsMin;
}

function partsOf(address: AddressBytes): readonly Part[] {
  const outer = { bytes: address, addressClass: classOfBytes(address) };
  // `::` and `::1` are addresses of their own although they lie in the IPv4-compatible block.
  if (address.length === 4 || outer.addressClass === 'unspecified' || outer.addressClass === 'loopback') return [outer];
  return [outer, ...embeddedAddresses(address).map((bytes) => ({ bytes, addressClass: classOfBytes(bytes) }))];
}

function worse(left: AddressClass, right: AddressClass): AddressClass {
  return ADDRESS_CLASSES.indexOf(left) >= ADDRESS_CLASSES.indexOf(right) ? left : right;
}
