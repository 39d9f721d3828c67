import { eventPage, eventQuery } from '../client/contract/events.js';
import { LAST_EVENT_ID } from './openapi/headers.js';
import type { Operation } from './openapi/operation.js';

export const READ_EVENTS = {
  id: 'readEvents',
  tag: 'Events',
  summary: 'Read or follow governed events',
  description:
    'A page as JSON or, with `Accept: text/event-stream`, the events as they come. A harness reads those of its own runs and names one.',
  headers: [LAST_EVENT_ID],
  query: eventQuery,
  answers: {
    200: {
      means: 'Events in commit order.',
      body: eventPage,
      text: {
        'text/event-stream':
          'Server-sent events: `id` is the position, `event` the event type, `data` the JSON of an `Event`. A comment every 15 seconds. A reader that is too slow is cut off and continues with `Last-Event-ID`.',
      },
    },
  },
  refusals: ['run_not_found'],
} as const satisfies Operation;
