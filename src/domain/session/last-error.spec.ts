import { describe, expect, it } from '@jest/globals';
import { lastErrorOf, redactedMessage } from './last-error.js';

describe('the message of an error', () => {
  it.each([
    'Authorization: Bearer canary123456789',
    'Basic canary123456789=',
    'bad key sk-canary123456789abc',
    'token=canary123456789&x=1',
    '{"api_key": "canary123456789"}',
    'password: canary123456789',
    'https://user:canary123456789@host/path',
    'eyJcanary123456789.eyJzdWIiOiJ4In0.c2ln',
  ])('holds no credential: %s [A-110]', (message) => {
    expect(redactedMessage(message)).not.toContain('canary123456789');
    expect(redactedMessage(message)).toContain('[redacted]');
  });

  it('keeps what is none', () => {
    const message = 'The model answered 429 after 12 s; 3 tokens were left, see https://status.example/incident?id=7.';
    expect(redactedMessage(message)).toBe(message);
  });

  it('is cut to a length that a state can hold, in time that grows with it', () => {
    expect(redactedMessage('x '.repeat(1_000_000))).toHaveLength(500);
    expect(redactedMessage('token'.repeat(200_000))).toHaveLength(500);
  });

  it('is that of something unknown where nothing is said', () => {
    expect(lastErrorOf({})).toEqual({ layer: 'unknown', code: 'unknown', message: '', retryability: 'never' });
  });
});
