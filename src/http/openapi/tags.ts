/** The groups of the API document, in its order. */
export const TAGS = {
  'Tool calls': 'Propose an effect, see what became of it, settle what nobody can know.',
  Approvals: 'Questions to people, and their answers.',
  Leases: 'Who may do one act, until when: what was lent for calls, and how to end it.',
  Control: 'Commands: resume, cancel, retry, pause, reload. Each is recorded, also when it is refused.',
  Outcomes: 'What the world shows of a call, told by sources of feedback.',
  Sessions: 'Everything a replaced harness needs to go on: the log of a conversation, its state, its owner.',
  Runs: 'What the calls of one task belong to, why they were made and what came of them.',
  Capabilities: 'What agents may propose.',
  Policies: 'The policy set in force, what another one would change, and how it comes into force.',
  Events: 'Every governed fact, in commit order.',
  Outbox: 'Sinks that are told of events: how far they are, what they refused, telling them again.',
  Installation: 'The process itself and this document.',
} as const;

export type Tag = keyof typeof TAGS;
