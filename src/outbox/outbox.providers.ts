import type { Provider } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { HttpClient } from '../egress/http-client.js';
import { SecretSource } from '../secrets/secret-reference.js';
import { UnitDesk } from '../storage/units/unit-desk.js';
import { Logger } from '../system/logger.js';
import { Metrics } from '../system/metrics/metrics.js';
import { RandomSource } from '../system/random-source.js';
import { Readiness } from '../system/readiness.js';
import { OutboxRelay } from './outbox-relay.js';
import { SinkStatuses } from './sink-statuses.js';

/** The relay, and who says how its sinks are doing. */
export const OUTBOX: readonly Provider[] = [
  {
    provide: OutboxRelay,
    useFactory: (
      settings: Settings,
      desk: UnitDesk,
      client: HttpClient,
      random: RandomSource,
      logger: Logger,
      { resolve }: SecretSource,
    ) => new OutboxRelay(settings, desk, { client, resolve }, random, logger),
    inject: [Settings, UnitDesk, HttpClient, RandomSource, Logger, SecretSource],
  },
  {
    provide: SinkStatuses,
    useFactory: (relay: OutboxRelay, settings: Settings, metrics: Metrics, readiness: Readiness) => {
      const statuses = new SinkStatuses(relay, settings);
      statuses.measuredBy(metrics);
      statuses.watchedBy(readiness);
      return statuses;
    },
    inject: [OutboxRelay, Settings, Metrics, Readiness],
  },
];
