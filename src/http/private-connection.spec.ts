import { describe, expect, it } from '@jest/globals';
import { arrivedPrivately } from './private-connection.js';

describe('a connection', () => {
  it.each(['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])('from %s is private', (remoteAddress) => {
    expect(arrivedPrivately({ remoteAddress })).toBe(true);
  });

  it.each([undefined, '', '10.0.0.1', '128.0.0.1', '::ffff:10.0.0.1', '127.0.0.1.example', '1127.0.0.1', 'fe80::1'])(
    'from %s is not, unless it is encrypted',
    (remoteAddress) => {
      expect(arrivedPrivately({ remoteAddress })).toBe(false);
      expect(arrivedPrivately({ remoteAddress, encrypted: true })).toBe(true);
    },
  );
});
