import { jest } from '@jest/globals';

// Jest reads `testTimeout` only from the root configuration; specs that start processes need more than unit specs may have.
jest.setTimeout(120_000);
