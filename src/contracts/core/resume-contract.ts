import { TOOL_CALL_STATUSES, type ToolCallStatus } from '../../domain/tool-call/tool-call.state.js';

/** Where work can be interrupted: in any status of a call, and in the two resting states of a run that somebody wanted. */
export const INTERRUPTION_POINTS = [...TOOL_CALL_STATUSES, 'run_stopping', 'run_suspended'] as const;
export type InterruptionPoint = (typeof INTERRUPTION_POINTS)[number];

/** Decided anew because nothing was sent; found out from outside; or over, whatever is asked. */
export const RECOVERY_CLASSES = ['replay', 'ask', 'forbid'] as const;
export type RecoveryClass = (typeof RECOVERY_CLASSES)[number];

export const AUTOMATIC_ACTIONS = [
  'wait',
  'rejudge_and_send',
  'record_unknown',
  'wait_for_result',
  'look_up',
  'finish_stop',
] as const;
export type AutomaticAction = (typeof AUTOMATIC_ACTIONS)[number];

export const VERSION_RULES = ['continue', 'rejudge', 'wait', 'close'] as const;
export type VersionRule = (typeof VERSION_RULES)[number];

export const VERSION_PARTS = ['program', 'events', 'schema'] as const;
export type VersionPart = (typeof VERSION_PARTS)[number];

export interface ContractRow {
  readonly recovery: RecoveryClass;
  readonly automatic: AutomaticAction;
  readonly byCommand: readonly string[];
  readonly olderVersion: VersionRule;
  readonly undo: 'none' | 'by_command';
}

export interface ResumeContractDocument {
  readonly contractId: string;
  readonly version: number;
  readonly versions: { readonly mustAgree: readonly VersionPart[] };
  readonly points: Readonly<Record<InterruptionPoint, ContractRow>>;
}

/** The class of each status: nothing but evidence leads on from where something may have been sent. */
export function recoveryClassOf(status: ToolCallStatus): RecoveryClass {
  switch (status) {
    case 'proposed':
    case 'authorized':
      return 'replay';
    case 'dispatching':
    case 'dispatched':
    case 'accepted':
    case 'result_unknown':
    case 'reconciling':
      return 'ask';
    case 'completed':
    case 'failed':
    case 'manual_handoff':
    case 'denied':
    case 'not_executed':
      return 'forbid';
  }
}

interface Choices {
  readonly automatic: readonly AutomaticAction[];
  readonly olderVersion: readonly VersionRule[];
  readonly byCommand: readonly string[];
  readonly undo: ContractRow['undo'];
}

const OVER = { automatic: ['wait'], olderVersion: ['continue'] } as const;
const SENT = { automatic: ['record_unknown'], olderVersion: ['continue'], byCommand: [], undo: 'none' } as const;
const UNKNOWN = { automatic: ['look_up'], olderVersion: ['continue'], byCommand: [], undo: 'none' } as const;

/** What this program can carry out at each point. A contract chooses within it; nothing in it ever sends twice. */
const CHOICES: Readonly<Record<InterruptionPoint, Choices>> = {
  proposed: { automatic: ['wait'], olderVersion: ['rejudge'], byCommand: ['resume', 'cancel', 'stop'], undo: 'none' },
  authorized: {
    automatic: ['rejudge_and_send', 'wait'],
    olderVersion: ['rejudge', 'wait', 'close'],
    byCommand: ['cancel', 'stop'],
    undo: 'none',
  },
  dispatching: SENT,
  dispatched: SENT,
  accepted: {
    automatic: ['wait_for_result', 'record_unknown'],
    olderVersion: ['continue'],
    byCommand: ['cancel', 'stop'],
    undo: 'none',
  },
  result_unknown: UNKNOWN,
  reconciling: UNKNOWN,
  manual_handoff: { ...OVER, byCommand: ['resolve', 'retry'], undo: 'by_command' },
  completed: { ...OVER, byCommand: [], undo: 'by_command' },
  failed: { ...OVER, byCommand: ['retry'], undo: 'by_command' },
  denied: { ...OVER, byCommand: [], undo: 'none' },
  not_executed: { ...OVER, byCommand: ['retry'], undo: 'none' },
  run_stopping: { automatic: ['finish_stop'], olderVersion: ['continue'], byCommand: [], undo: 'none' },
  run_suspended: { automatic: ['wait'], olderVersion: ['continue'], byCommand: ['resume', 'stop'], undo: 'none' },
};

/** Everything a contract promises that this program would not do; empty when it can be carried out. */
export function contractProblems({ points }: ResumeContractDocument): readonly string[] {
  return INTERRUPTION_POINTS.flatMap((point) => {
    const [row, choices] = [points[point], CHOICES[point]];
    const recovery = point === 'run_stopping' || point === 'run_suspended' ? 'replay' : recoveryClassOf(point);
    const wrong = (field: keyof ContractRow, allowed: string): string => `points.${point}.${field}: must be ${allowed}`;
    return [
      ...(row.recovery === recovery ? [] : [wrong('recovery', recovery)]),
      ...(choices.automatic.includes(row.automatic) ? [] : [wrong('automatic', choices.automatic.join(' or '))]),
      ...(choices.olderVersion.includes(row.olderVersion)
        ? []
        : [wrong('olderVersion', choices.olderVersion.join(' or '))]),
      ...(row.byCommand.toSorted().join() === choices.byCommand.toSorted().join()
        ? []
        : [wrong('byCommand', `[${choices.byCommand.join(', ')}]`)]),
      ...(row.undo === choices.undo ? [] : [wrong('undo', choices.undo)]),
    ];
  });
}

/** Whether two version sets (`countersign/0.1.0 events/1 schema/1`) agree in the parts that must. */
export function versionsAgree(recorded: string, current: string, mustAgree: readonly VersionPart[]): boolean {
  const [before, now] = [partsOf(recorded), partsOf(current)];
  return mustAgree.every((part) => before[part] !== undefined && before[part] === now[part]);
}

function partsOf(versionSet: string): Partial<Record<VersionPart, string>> {
  const [program, ...others] = versionSet.split(' ');
  const named = others.map((part) => part.split('/') as [VersionPart, string]);
  return { ...(program === undefined ? {} : { program }), ...Object.fromEntries(named) };
}
