import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import type { ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import { ResumeRules } from './resume-rules.js';

/** How long what a tool has taken on is waited for: by its manifest, and, after a change of owner, by the contract. */
@Injectable()
export class Patience {
  constructor(
    private readonly gate: CapabilityGate,
    private readonly rules: ResumeRules,
  ) {}

  /** What the tool has accepted is the tool's to finish: a new owner may wait for it as the old one did. */
  outlivesOwner(state: ToolCallState): boolean {
    return state.status === 'accepted' && this.rules.waitsForAccepted;
  }

  /** Milliseconds beyond the attempt's deadline. */
  beyondDeadlineMs(state: ToolCallState): number {
    const manifest = state.status === 'accepted' ? this.gate.bound(state)?.manifest : undefined;
    if (manifest?.lateResult !== 'callback' || manifest.callback === null) return 0;
    return manifest.quiesceMs + manifest.callback.budgetMs;
  }
}
