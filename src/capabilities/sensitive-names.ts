/** Names, without case and punctuation, that hold a secret as a whole. */
const WHOLE_NAMES: ReadonlySet<string> = new Set([
  'auth',
  'authentication',
  'authorization',
  'bearer',
  'cookie',
  'cookies',
  'credential',
  'credentials',
  'cvc',
  'cvv',
  'jwt',
  'otp',
  'pin',
  'pwd',
  'secrets',
  'setcookie',
  'setcookie2',
]);

/** Ends of such names: `clientSecret`, `X-Api-Key`, `ssh_private_key`. */
const ENDINGS = [
  'accesskey',
  'apikey',
  'authkey',
  'encryptionkey',
  'passcode',
  'passphrase',
  'passwd',
  'password',
  'privatekey',
  'proxyauthorization',
  'secret',
  'secretkey',
  'sessionid',
  'signingkey',
  'token',
] as const;

/** Names that end like a secret and are none: cursors of lists. */
const HARMLESS: ReadonlySet<string> = new Set([
  'continuationtoken',
  'cursortoken',
  'nextpagetoken',
  'nexttoken',
  'pagetoken',
  'synctoken',
]);

/** True when an argument of this name holds a secret in practice, however it is spelled: `private_key`, `Private-Key`, `PRIVATEKEY`. */
export function isSensitiveName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  if (WHOLE_NAMES.has(plain)) return true;
  return ENDINGS.some((ending) => plain.endsWith(ending)) && !HARMLESS.has(plain);
}

/** `credentials` of RFC 6750 section 2.1. */
const BEARER = /^Bearer [A-Za-z0-9\-._~+/]{16,}=*$/i;

const PRIVATE_KEY_BEGINNING = '-----BEGIN ';

/** True when a text is a credential by its form, whatever its name: a bearer header or a private key in PEM (RFC 7468). */
export function looksLikeCredential(text: string): boolean {
  if (text.startsWith(PRIVATE_KEY_BEGINNING)) return text.slice(0, 64).includes('PRIVATE KEY-----');
  return text.length < 8_192 && BEARER.test(text);
}
