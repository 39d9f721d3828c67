import type { Provider } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { Revocations } from '../identity/revocations.js';
import { KeyRotation } from '../secrets/key-rotation.js';
import { SecretKeeper } from '../secrets/secret-keeper.js';
import { UpstreamCredentials } from '../secrets/upstream/upstream-credentials.js';
import { KeyProviderWatch } from '../secrets/key-provider-watch.js';
import { Store } from '../storage/store.js';
import { UnitDesk } from '../storage/units/unit-desk.js';
import { Clock } from '../system/clock.js';
import { Logger } from '../system/logger.js';
import { RandomSource } from '../system/random-source.js';
import { Readiness } from '../system/readiness.js';
import { PutSecretHandler } from './put-secret/put-secret.handler.js';
import { SecretDirectory } from './secret-directory.js';
import { RetireSecretHandler } from './retire-secret/retire-secret.handler.js';
import { RevokeTokenHandler } from './revoke-token/revoke-token.handler.js';
import { RewrapKeysHandler } from './rewrap-keys/rewrap-keys.handler.js';

/** Secrets, the keys they lie under, credentials that are fetched, and tokens that count no more. */
export const SECRETS: readonly Provider[] = [
  {
    provide: SecretKeeper,
    useFactory: (desk: UnitDesk, random: RandomSource, settings: Settings) => new SecretKeeper(desk, random, settings),
    inject: [UnitDesk, RandomSource, Settings],
  },
  {
    provide: KeyRotation,
    useFactory: (desk: UnitDesk, logger: Logger, readiness: Readiness) => {
      const rotation = new KeyRotation(desk, logger);
      rotation.watchedBy(readiness);
      return rotation;
    },
    inject: [UnitDesk, Logger, Readiness],
  },
  {
    provide: Revocations,
    useFactory: (store: Store, clock: Clock) => new Revocations(store.read, clock),
    inject: [Store, Clock],
  },
  KeyProviderWatch,
  UpstreamCredentials,
  SecretDirectory,
  PutSecretHandler,
  RetireSecretHandler,
  RewrapKeysHandler,
  RevokeTokenHandler,
];
