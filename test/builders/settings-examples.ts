import { loadSettings } from '../../src/config/load-settings.js';
import type { Settings } from '../../src/config/settings.js';

type Changes = { readonly [S in keyof Settings]?: Partial<Settings[S]> };

const REQUIRED = {
  COUNTERSIGN_IDENTITY__ISSUER: 'https://issuer.example',
  COUNTERSIGN_IDENTITY__AUDIENCE: 'countersign',
  COUNTERSIGN_IDENTITY__ALGORITHMS: '["EdDSA"]',
  COUNTERSIGN_IDENTITY__JWKS_FILE: '/nowhere/jwks.json',
};

const DEFAULTS = loadSettings({ file: null, environment: REQUIRED });

/** The settings as they are shipped, with changes in single sections. */
export function settingsWith(changes: Changes = {}): Settings {
  const sections = Object.entries(changes).map(([section, change]) => {
    const shipped: unknown = DEFAULTS[section as keyof Settings];
    return [section, typeof change === 'object' ? Object.assign({}, shipped, change) : change];
  });
  return Object.assign({}, DEFAULTS, Object.fromEntries(sections));
}
