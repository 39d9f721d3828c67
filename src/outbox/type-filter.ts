import { matchesType } from '../config/sink.schema.js';
import type { SinkSettings } from '../config/settings.js';
import { CATALOGUE, type EventType } from '../domain/events/catalogue.js';

/** What a webhook is told when its settings do not say: what people and other systems act on. */
const WEBHOOK_TYPES: readonly EventType[] = [
  'approval.required',
  'approval.granted',
  'approval.denied',
  'approval.expired',
  'approval.invalidated',
  'approval.escalated',
  'approval.break_glass_used',
  'tool.call.completed',
  'tool.call.failed',
  'tool.call.denied',
  'tool.call.not_executed',
  'tool.call.manual_handoff',
  'tool.call.result_unknown',
  'manual.handoff_opened',
  'run.completed',
  'run.failed',
  'run.stopped',
  'run.handed_off',
  // Verdicts about outcomes, and what puts one in doubt; that somebody began to look is none.
  'feedback.success_criteria_met',
  'feedback.success_criteria_failed',
  'feedback.inconclusive',
  'feedback.contradiction_recorded',
];

/** What people in a chat are told when the settings do not say: that somebody is waited for. */
const CHAT_TYPES: readonly EventType[] = ['approval.required', 'manual.handoff_opened'];

/** The event types a sink is told of; null: all. */
export function typesOf({ kind, types }: Pick<SinkSettings, 'kind' | 'types'>): ReadonlySet<string> | null {
  if (types !== null) return named((type) => types.some((pattern) => matchesType(pattern, type)));
  switch (kind) {
    case 'file':
      return null;
    case 'webhook':
      return new Set<string>(WEBHOOK_TYPES);
    case 'chat':
      return new Set<string>(CHAT_TYPES);
  }
}

const named = (wanted: (type: string) => boolean): ReadonlySet<string> =>
  new Set(Object.keys(CATALOGUE).filter(wanted));
