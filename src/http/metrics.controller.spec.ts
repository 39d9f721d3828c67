import { describe, expect, it } from '@jest/globals';
import { settingsWith } from '../../test/builders/settings-examples.js';
import { metricsAreOpen } from './metrics.controller.js';

describe('the metrics', () => {
  it.each([
    ['operator', '127.0.0.1', false],
    ['loopback', '127.0.0.1', true],
    ['loopback', '::1', true],
    ['loopback', '::ffff:127.0.0.1', true],
    ['loopback', '10.1.2.3', false],
    ['loopback', undefined, false],
    ['public', '203.0.113.9', true],
  ] as const)('with access %s are open to %s without a token: %s', (access, address, isOpen) => {
    expect(metricsAreOpen(settingsWith({ metrics: { access } }), address)).toBe(isOpen);
  });
});
