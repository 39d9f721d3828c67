import type { JsonLimits } from '../domain/json/strict-json.js';
import type { Settings } from './settings.js';

/** The configured limits of JSON, for a text of at most so many bytes. */
export function jsonLimits(settings: Pick<Settings, 'limits'>, bytesMax: number): JsonLimits {
  return {
    bytesMax,
    depthMax: settings.limits.jsonDepthMax,
    keysMax: settings.limits.jsonKeysMax,
    stringUnitsMax: bytesMax,
  };
}
