import { generateKeyPairSync, sign } from 'node:crypto';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate for these DNS names and IPv4 addresses that signs itself, valid for an hour (X.509 version 3, RFC 5280, in DER). */
export function selfSignedCertificate(dnsNames: readonly string[], ipv4: readonly string[] = []): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(oid('550403'), node(0x0c, Buffer.from('countersign test')))));
  const signatureAlgorithm = sequence(oid('2a8648ce3d040302'));
  const now = Date.now();
  const alternatives = [
    ...dnsNames.map((dnsName) => node(0x82, Buffer.from(dnsName))),
    ...ipv4.map((address) => node(0x87, Buffer.from(address.split('.').map(Number)))),
  ];
  const extensions = sequence(
    sequence(oid('551d13'), node(0x01, Buffer.of(0xff)), node(0x04, sequence(node(0x01, Buffer.of(0xff))))),
    sequence(oid('551d11'), node(0x04, sequence(...alternatives))),
  );
  const unsigned = sequence(
    node(0xa0, node(0x02, Buffer.of(2))),
    node(0x02, Buffer.of(1)),
    signatureAlgorithm,
    name,
    sequence(time(now - 60_000), time(now + 3_600_000)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    node(0xa3, extensions),
  );
  const signature = node(0x03, Buffer.concat([Buffer.of(0), sign('sha256', unsigned, privateKey)]));
  return {
    cert: pem(sequence(unsigned, signatureAlgorithm, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function node(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  const lengthBytes = Buffer.from(length.toString(16).padStart(4, '0'), 'hex');
  return Buffer.concat([Buffer.of(tag, 0x82), lengthBytes, content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return node(0x30, Buffer.concat(parts));
}

function set(part: Buffer): Buffer {
  return node(0x31, part);
}

function oid(hexadecimal: string): Buffer {
  return node(0x06, Buffer.from(hexadecimal, 'hex'));
}

/** GeneralizedTime. */
function time(atMs: number): Buffer {
  return node(0x18, Buffer.from(new Date(atMs).toISOString().replace(/[-:T]|\.\d+/g, '')));
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
