/** Facts that the server gathers only where a policy about the action reads them; each is `context.<name>`. */
export const FACT_NAMES = [
  'counters',
  'environment',
  'time',
  'riskScore',
  'previousDenials',
  'agentSuspended',
  'compensation',
] as const;
export type FactName = (typeof FACT_NAMES)[number];

/** The wall clock in the zone of `policy.timeZone`. */
export interface LocalTime {
  /** 0 to 23. */
  readonly hour: number;
  readonly minute: number;
  /** 1 is Monday, 7 is Sunday. */
  readonly weekday: number;
  readonly dayOfMonth: number;
  /** 1 to 12. */
  readonly month: number;
}

/** How often the same intent was denied lately, by people and by policy. */
export interface PreviousDenials {
  readonly byPeople: number;
  readonly byPolicy: number;
}

/** What the risk score is computed from besides the request itself. */
export interface RiskInputs {
  readonly denials: PreviousDenials;
  /** No earlier call with a key of this principal to this capability is on record. */
  readonly firstUse: boolean;
}

/** Facts as a request records them: present exactly where they were gathered, so that the decision can be replayed. */
export interface ServerFacts {
  /** By the name of the counter: its value without what this call has reserved itself. */
  readonly counters?: Readonly<Record<string, number>>;
  readonly environment?: string;
  readonly time?: LocalTime;
  /** 0 to 1000. */
  readonly riskScore?: number;
  readonly riskInputs?: RiskInputs;
  readonly previousDenials?: PreviousDenials;
  readonly agentSuspended?: boolean;
  readonly compensation?: boolean;
  /** Only where a limit counts by run. */
  readonly runId?: string;
}

export const LIMIT_SUBJECTS = ['tenant', 'principal', 'sub', 'agent', 'capability', 'run'] as const;
export type LimitSubject = (typeof LIMIT_SUBJECTS)[number];

/** A counter, and whose: equal values of `by` share it. Every counter belongs to one tenant. */
export interface LimitScope {
  /** `<word>.<window>`: `spend.day`. */
  readonly counter: string;
  /** In the order of `LIMIT_SUBJECTS`. */
  readonly by: readonly LimitSubject[];
}

/** What the policies about one action read, and the counters their limits declare. */
export interface FactNeeds {
  readonly facts: readonly FactName[];
  readonly counters: readonly LimitScope[];
  /** A limit counts by run, so the request has to say which. */
  readonly run: boolean;
}

export const NO_FACTS: FactNeeds = { facts: [], counters: [], run: false };

export const DEFAULT_ENVIRONMENT = 'production';

const RECORDED: ReadonlySet<string> = new Set<keyof ServerFacts>([...FACT_NAMES, 'riskInputs', 'runId']);

/** False for a request that nothing has been gathered for. */
export function hasFacts(request: object): boolean {
  for (const name of RECORDED) if (name in request) return true;
  return false;
}

/** A request as it was recorded, without the facts of that moment: they are gathered anew. */
export function withoutFacts<T extends object>(request: T): Omit<T, keyof ServerFacts> {
  return Object.fromEntries(Object.entries(request).filter(([name]) => !RECORDED.has(name))) as Omit<
    T,
    keyof ServerFacts
  >;
}
