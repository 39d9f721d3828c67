import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { Readiness } from '../system/readiness.js';

/** Says that the key-encryption key comes from the environment, which is for development. */
@Injectable()
export class KeyProviderWatch {
  constructor(settings: Settings, readiness: Readiness) {
    const { keyEnv, previousKeys } = settings.storage;
    if (keyEnv === null && !previousKeys.some((reference) => reference.startsWith('env:'))) return;
    const detail = 'a key-encryption key comes from the environment (storage.keyEnv), which is for development only';
    readiness.watch(() => [{ name: 'key_from_environment', weight: 'degraded', detail }]);
  }
}
