import { Injectable } from '@nestjs/common';
import { timeOfId } from '../../domain/ids/id-time.js';
import { isTerminal } from '../../domain/tool-call/tool-call.state.js';
import { Store } from '../../storage/store.js';
import { Logger } from '../../system/logger.js';
import { STATUS_AFTER } from './call-metrics.js';

/** One line per call that has ended, at level debug: a line costs more than most of what a call does. */
@Injectable()
export class CallLog {
  constructor(store: Store, logger: Logger) {
    if (!logger.isOn('debug')) return;
    store.feed.subscribe('call-log', ({ unit, committed }) => {
      for (const { stream, events } of unit.appends) {
        for (const { type, refs } of stream.kind === 'call' ? events : []) {
          const status = STATUS_AFTER[type];
          if (status === undefined || !isTerminal(status)) continue;
          logger.debug('a call has ended', {
            toolCallId: stream.id,
            capability: refs.capabilityId,
            runId: refs.runId,
            status,
            tookMs: Date.parse(committed.recordedAt) - timeOfId(stream.id),
          });
        }
      }
    });
  }
}
