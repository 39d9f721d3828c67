import { describe, expect, it } from '@jest/globals';
import { isPrivateAddress } from './server-request.js';

describe('the address of a server', () => {
  it.each([
    'https://countersign.example',
    'http://localhost:8080',
    'http://127.0.0.1:8080',
    'http://127.9.8.7',
    'http://[::1]:8080',
    'http://0.0.0.0:8080',
  ])('%s may be sent a secret', (url) => expect(isPrivateAddress(url)).toBe(true));

  it.each([
    'http://countersign.example',
    'http://10.0.0.7:8080',
    'http://localhost.example',
    'http://127.0.0.1.example',
    'http://127.0.0.1@countersign.example',
    'http://[2001:db8::1]',
    'ftp://localhost',
    'nowhere',
  ])('%s may not', (url) => expect(isPrivateAddress(url)).toBe(false));
});
