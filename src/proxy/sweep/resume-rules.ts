/**
 * What the sweeps ask before they go on with what another process left. The composition gives them the Resume Contract
 * in force; nothing here knows how it is written down.
 */
export abstract class ResumeRules {
  /** What may become of an allowed call, by the version set that recorded it. `send` is judged again at that moment. */
  abstract authorized(recordedVersionSetId: string): 'send' | 'wait' | 'close';

  /** Whether a new owner waits for what a tool has taken on. */
  abstract get waitsForAccepted(): boolean;
}
