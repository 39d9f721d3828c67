import { lastEventId } from '../client/contract/events.js';
import { CountersignError } from '../domain/errors/countersign-error.js';

/** Whether a media type of the Accept header (RFC 9110 section 12.5.1) is that of server-sent events, and not refused. */
export function wantsStream(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'text/event-stream' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/** The position of the last event a reader has had. Null when it does not say; anything else is refused, never taken for the start. */
export function lastSeen(header: string | undefined): number | null {
  if (header === undefined || header === '') return null;
  if (!lastEventId.safeParse(header).success) {
    throw new CountersignError('invalid_request', 'Last-Event-ID must be the id of an event of this stream');
  }
  return Number(header);
}
