import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { environmentOverrides, environmentValue, settingsFile } from './environment.js';

const NAME = 'COUNTERSIGN_SPEC_SECRET';

afterEach(() => {
  delete process.env[NAME];
});

describe('the process environment', () => {
  it('becomes a tree: two underscores between levels, one between the words of a name', () => {
    const { tree, problems } = environmentOverrides({
      COUNTERSIGN_HTTP__PORT: '8080',
      COUNTERSIGN_HTTP__BODY_BYTES_MAX: '1024',
      COUNTERSIGN_DATA_DIR: '/data',
      PATH: '/bin',
    });
    expect(tree).toEqual({ http: { port: 8080, bodyBytesMax: 1024 }, dataDir: '/data' });
    expect(problems).toEqual([]);
  });

  it('is read as JSON where it is JSON and as text where it is not', () => {
    const { tree } = environmentOverrides({
      COUNTERSIGN_A: 'true',
      COUNTERSIGN_B: '["x"]',
      COUNTERSIGN_C: '{"k":null}',
      COUNTERSIGN_D: 'not json',
      COUNTERSIGN_E: '',
    });
    expect(tree).toEqual({ a: true, b: ['x'], c: { k: null }, d: 'not json', e: '' });
  });

  it('does not take the name of the settings file for a setting', () => {
    const environment = { COUNTERSIGN_CONFIG: '/etc/countersign.yaml' };
    expect(environmentOverrides(environment)).toEqual({ tree: {}, problems: [] });
    expect(settingsFile(environment)).toBe('/etc/countersign.yaml');
    expect(settingsFile({})).toBeNull();
  });

  it('names a variable that has an empty level', () => {
    expect(environmentOverrides({ COUNTERSIGN_: '1', COUNTERSIGN_HTTP__: '1' }).problems).toEqual([
      'COUNTERSIGN_: not the name of a setting',
      'COUNTERSIGN_HTTP__: not the name of a setting',
    ]);
  });

  it('never reaches beyond its own tree, whatever the variables are called', () => {
    const part = fc.constantFrom('PROTO', 'CONSTRUCTOR', 'PROTOTYPE', '_PROTO_', 'HTTP', '', 'TO_STRING');
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        const before = Object.getOwnPropertyNames(Object.prototype).length;
        environmentOverrides({ [`COUNTERSIGN_${parts.join('__')}`]: '1' });
        return Object.getOwnPropertyNames(Object.prototype).length === before;
      }),
    );
  });

  it('gives a secret by its name, and nothing where it is not set or empty', () => {
    expect(environmentValue(NAME)).toBeUndefined();
    process.env[NAME] = '';
    expect(environmentValue(NAME)).toBeUndefined();
    process.env[NAME] = 'hunter2';
    expect(environmentValue(NAME)).toBe('hunter2');
  });
});
