import { z } from 'zod';
import { commandId, id, instant, links, reason } from './fields.js';
import { acceptRestoreCommand } from './backups.js';
import { resumeCommand, stopCommand, suspendCommand } from './run-control.js';

const pauseTarget = z
  .union([
    z.literal('all'),
    z.literal('tenant'),
    z.strictObject({ principal: z.string().min(1).max(256) }),
    z.strictObject({
      capability: z.string().min(1).max(130).describe('A name, or `name@version` for that version alone.'),
    }),
    z
      .strictObject({ agent: z.string().min(1).max(256) })
      .describe(
        'Suspends one agent: policies that read `context.agentSuspended` decide what it may do, all else is paused.',
      ),
  ])
  .meta({ id: 'PauseTarget' });
export type PauseTarget = z.infer<typeof pauseTarget>;

/** The policy folder, or a session: what it says is derived anew from what is durable. */
const reloadTarget = z.union([z.literal('policies'), z.strictObject({ sessionId: z.string().min(1).max(200) })]);

export const controlBody = z
  .discriminatedUnion('type', [
    resumeCommand,
    stopCommand,
    suspendCommand,
    z.strictObject({ commandId, type: z.literal('resume_authorized'), reason }),
    z.strictObject({ commandId, type: z.literal('cancel'), target: z.strictObject({ toolCallId: id }), reason }),
    z.strictObject({ commandId, type: z.literal('retry'), target: z.strictObject({ toolCallId: id }), reason }),
    z.strictObject({ commandId, type: z.literal('pause'), target: pauseTarget, reason }),
    z.strictObject({ commandId, type: z.literal('unpause'), target: pauseTarget, reason }),
    acceptRestoreCommand,
    z.strictObject({ commandId, type: z.literal('reload'), target: reloadTarget, reason }),
  ])
  .meta({ id: 'ControlCommand' });
export type ControlBody = z.infer<typeof controlBody>;

/** An answer that claims nothing: the command is recorded, and `self` is where to ask what became of it. */
export const acceptedCommand = z
  .strictObject({ commandId: z.string(), status: z.literal('accepted'), links: z.strictObject({ self: z.string() }) })
  .meta({
    id: 'AcceptedCommand',
    description: 'Claims nothing: the command is recorded, and `links.self` is where to ask what became of it.',
  });
export type AcceptedCommand = z.infer<typeof acceptedCommand>;

export const commandRepresentation = z
  .strictObject({
    commandId: z.string(),
    type: z.string(),
    status: z.enum(['accepted', 'rejected']),
    code: z.string().nullable().describe('Why it was rejected: an error code.'),
    message: z.string().nullable(),
    receivedAt: instant,
    eventIds: z.array(z.string()).describe('Events the command caused, its own first.'),
    links,
  })
  .meta({ id: 'Command' });
export type CommandRepresentation = z.infer<typeof commandRepresentation>;
