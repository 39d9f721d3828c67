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

  /** What the tool has accepted, and will tell the end of, is waited for by a new owner as by the old one. */
  outlivesOwner(state: ToolCallState): boolean {
    if (state.status !== 'accepted' || !this.rules.waitsForAccepted) return false;
    return (this.gate.bound(state)?.manifest.lateResult ?? 'none') !== 'none';
  }

  /** Milliseconds beyond the attempt's deadline. */
  beyondDeadlineMs(state: ToolCallState): number {
    const manifest = state.status === 'accepted' ? this.gate.bound(state)?.manifest : undefined;
    if (manifest?.lateResult !== 'callback' || manifest.callback === null) return 0;
    return manifest.quiesceMs + manifest.callback.budgetMs;
  }
}
