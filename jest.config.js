const base = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  // `.js` before `.ts`, so that a package which ships its sources is still loaded from what it published.
  moduleFileExtensions: ['js', 'mjs', 'cjs', 'ts', 'json', 'node'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        swcrc: false,
        sourceMaps: 'inline',
        module: { type: 'es6' },
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, verbatimModuleSyntax: true },
          keepClassNames: true,
        },
      },
    ],
  },
};

const startsProcesses = { setupFilesAfterEnv: ['<rootDir>/test/long-timeout.js'] };

function project(displayName, testMatch, more = {}) {
  return { ...base, displayName, testMatch: [testMatch], ...more };
}

/** Specs outside src/ may start processes and threads: those run the build in dist/, so build first. */
export default {
  // The servers that specs start need the other half.
  maxWorkers: '50%',
  reporters: ['default', '<rootDir>/test/plain-reporter.cjs'],
  projects: [
    project('unit', '<rootDir>/src/**/*.spec.ts'),
    project('architecture', '<rootDir>/test/architecture/**/*.spec.ts', startsProcesses),
    project('contract', '<rootDir>/test/contract/**/*.spec.ts', startsProcesses),
    project('e2e', '<rootDir>/test/e2e/**/*.spec.ts', startsProcesses),
    project('fault', '<rootDir>/test/fault/**/*.spec.ts', startsProcesses),
  ],
};
