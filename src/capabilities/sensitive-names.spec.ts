import { describe, expect, it } from '@jest/globals';
import { isSensitiveName, looksLikeCredential } from './sensitive-names.js';

describe('a sensitive name', () => {
  it.each([
    'authorization',
    'Authorization',
    'Proxy-Authorization',
    'cookie',
    'Set-Cookie',
    'password',
    'userPassword',
    'PASSWD',
    'private_key',
    'privateKey',
    'ssh-private-key',
    'api_key',
    'X-API-Key',
    'apikey',
    'secret',
    'client_secret',
    'secretKey',
    'token',
    'accessToken',
    'refresh_token',
    'cardToken',
    'bearer',
    'credentials',
    'passphrase',
    'session_id',
    'cvv',
    'pin',
    'jwt',
  ])('is %s', (name) => {
    expect(isSensitiveName(name)).toBe(true);
  });

  it.each([
    'orderId',
    'amountMinor',
    'author',
    'authorizationId',
    'maxTokens',
    'tokenCount',
    'pageToken',
    'next_page_token',
    'keyboard',
    'primaryKey',
    'secretary',
    'shipping',
    'spin',
    'cookieCount',
    'passwordPolicy',
    '',
    '_',
  ])('is not %p', (name) => {
    expect(isSensitiveName(name)).toBe(false);
  });
});

describe('a text that looks like a credential', () => {
  it.each([
    'Bearer abcdefghijklmnop',
    'bearer eyJhbGciOiJFZDI1NTE5In0.eyJzdWIiOiJ4In0.c2ln',
    '-----BEGIN PRIVATE KEY-----\nMIIE',
    '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl',
  ])('is %p', (text) => {
    expect(looksLikeCredential(text)).toBe(true);
  });

  it.each([
    'Bearer of bad news, sadly',
    'Bearer short',
    'Basic refund of the order',
    '-----BEGIN PUBLIC KEY-----',
    '-----BEGIN CERTIFICATE-----',
    '',
  ])('is not %p', (text) => {
    expect(looksLikeCredential(text)).toBe(false);
  });

  it('is judged in linear time', () => {
    const started = performance.now();
    looksLikeCredential(`Bearer ${'a='.repeat(500_000)}`);
    looksLikeCredential(`Bearer ${'a'.repeat(1_000_000)} `);
    expect(performance.now() - started).toBeLessThan(500);
  });
});
