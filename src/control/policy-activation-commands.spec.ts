import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  AGENT,
  APPROVER,
  callerWith,
  Installation,
  OPERATOR,
  REVISION,
  TENANT,
} from '../../test/builders/installation.js';
import { settingsWith } from '../../test/builders/settings-examples.js';
import { standbyOf } from '../../test/support/loaded-policies.js';
import type { Caller } from '../identity/caller.js';
import { problem } from '../policy/engine/policy-problem.js';
import { refusedReport, type LoadReport, type PolicyCandidate } from '../policy/engine/policy-set.js';
import { ActivationExpiry } from '../policy/life/activation-expiry.js';
import type { PolicyShadow } from '../policy/life/shadow.worker.js';
import { StoredSets } from '../policy/life/stored-sets.js';
import { PolicyActivation } from '../policy/policy-activation.js';
import type { PolicyService } from '../policy/policy.service.js';
import { DecidePolicyActivation } from './decide-policy-activation/decide-policy-activation.command.js';
import { DecidePolicyActivationHandler } from './decide-policy-activation/decide-policy-activation.handler.js';
import { ProposePolicyActivation } from './propose-policy-activation/propose-policy-activation.command.js';
import { ProposePolicyActivationHandler } from './propose-policy-activation/propose-policy-activation.handler.js';
import { SetPolicyShadow, type ShadowChoice } from './set-policy-shadow/set-policy-shadow.command.js';
import { SetPolicyShadowHandler } from './set-policy-shadow/set-policy-shadow.handler.js';

const SECOND = callerWith({ ...OPERATOR, actor: { sub: 'olivia' } });
const FILES = [{ name: 'new.cedar', text: 'permit' }];
const NEW = 'sha256:policy-2';

const reportOf = (revision: string): LoadReport => ({
  accepted: true,
  revision,
  schemaDigest: 'sha256:schema-2',
  engineVersion: 'cedar/4',
  policyIds: ['permit-refund'],
  problems: [],
  warnings: [],
  unattended: [],
});
const CANDIDATE: PolicyCandidate = {
  files: FILES,
  capabilities: [],
  approverGroups: [],
  defaults: { decideWithinMs: 1, executionWindowMs: 1 },
};
const REFUSED = refusedReport([problem('syntax', 'a bracket is missing', { file: 'new.cedar' })]);

class Bench {
  readonly installation: Installation;
  report: LoadReport = reportOf(NEW);
  standby = standbyOf(REFUSED);
  /** What the engine beside the one in force was told. */
  readonly shadowed: (string | null)[] = [];
  private readonly parts;

  constructor(mode: 'folder' | 'approved' = 'approved') {
    this.installation = new Installation({
      settings: settingsWith({ installation: { operatorTenant: TENANT }, policy: { activation: mode } }),
    });
    const { desk, commands, settings } = this.installation;
    const candidateOf = () => (this.report.accepted ? CANDIDATE : null);
    const policy = {
      check: async () => ({ report: this.report, candidate: candidateOf() }),
      prepare: async () => (this.standby = standbyOf(this.report, candidateOf())),
    };
    const sets = new StoredSets(desk);
    const activation = new PolicyActivation(desk, policy as unknown as PolicyService, sets);
    const shadow = {
      follow: async ({ revision }: { revision: string }) => void this.shadowed.push(revision),
      stop: async () => void this.shadowed.push(null),
    };
    this.parts = {
      propose: new ProposePolicyActivationHandler(desk, commands, activation, sets, settings),
      decide: new DecidePolicyActivationHandler(desk, commands, activation, sets, settings),
      shadow: new SetPolicyShadowHandler(commands, activation, sets, shadow as unknown as PolicyShadow, settings),
      expiry: new ActivationExpiry(desk),
    };
  }

  propose(caller: Caller = OPERATOR, commandId: string | null = null): Promise<string> {
    const command = new ProposePolicyActivation(caller, FILES, 'less work', commandId);
    return answer(this.parts.propose.execute(command).then(({ activationId }) => activationId));
  }

  decide(activationId: string, caller: Caller = SECOND, more: object = {}): Promise<string> {
    const word = { activationId, decision: 'allow' as const, revision: NEW, reason: null, ...more };
    return answer(this.parts.decide.execute(new DecidePolicyActivation(caller, word, null)).then(() => 'accepted'));
  }

  shadow(choice: ShadowChoice, caller: Caller = OPERATOR, commandId: string | null = null): Promise<string> {
    return answer(
      this.parts.shadow.execute(new SetPolicyShadow(caller, choice, null, commandId)).then(() => 'accepted'),
    );
  }

  expire(): Promise<number> {
    return this.parts.expiry.tick();
  }

  get row() {
    return this.installation.store.rows('policy_activations')[0];
  }

  get types(): readonly string[] {
    return this.installation.store.lastTypes;
  }
}

const answer = (work: Promise<string>): Promise<string> =>
  work.catch((error: { code?: string }) => error.code ?? String(error));

let bench: Bench;
beforeEach(() => void (bench = new Bench()));

describe('a proposed policy set', () => {
  it('is checked, kept and recorded with what it is a change of, and changes nothing', async () => {
    const activationId = await bench.propose();
    expect(bench.types).toEqual(['control.accepted', 'policy.activation_proposed']);
    expect(bench.installation.store.events.at(-1)?.payload).toMatchObject({
      activationId,
      policyRevision: NEW,
      basedOn: REVISION,
      author: { sub: 'olga' },
      reason: 'less work',
    });
    expect(bench.row).toMatchObject({ state: 'proposed', author: 'olga', revision: NEW, based_on: REVISION });
    expect(bench.installation.store.rows('policy_sets')).toMatchObject([{ revision: NEW }]);
    expect(bench.installation.revision).toBe(REVISION);
  });

  it('that does not pass its check is refused, and that is a fact', async () => {
    bench.report = REFUSED;
    expect(await bench.propose()).toBe('policy_set_refused');
    const types = bench.installation.store.events.map(({ envelope }) => envelope.eventType);
    expect(types).toEqual(['policy.activation_refused', 'control.rejected']);
    expect(bench.row).toBeUndefined();
  });

  it('is proposed once when the command comes again, which is answered with the same proposal', async () => {
    const first = await bench.propose(OPERATOR, 'cmd-1');
    expect(await bench.propose(OPERATOR, 'cmd-1')).toBe(first);
    expect(bench.installation.store.rows('policy_activations')).toHaveLength(1);
  });

  it('is one proposal also when the command comes twice at the same moment', async () => {
    const ids = await Promise.all([bench.propose(OPERATOR, 'cmd-1'), bench.propose(OPERATOR, 'cmd-1')]);
    expect(bench.installation.store.rows('policy_activations').map((row) => row.activation_id)).toEqual([ids[0]]);
    expect(ids[1]).toBe(ids[0]);
  });

  it.each([
    ['an agent', AGENT],
    ['an approver', APPROVER],
    ['an operator of another tenant', callerWith({ ...OPERATOR, tenant: 'globex' })],
  ])('cannot come from %s', async (_, caller) => {
    expect(await bench.propose(caller)).toBe('not_authorized');
    expect(bench.row).toBeUndefined();
  });

  it('is refused where the folder decides', async () => {
    bench = new Bench('folder');
    expect(await bench.propose()).toBe('policy_activation_by_folder');
  });
});

describe('the second person', () => {
  it('puts the set in force in the unit of their word, with both names', async () => {
    const activationId = await bench.propose();
    expect(await bench.decide(activationId)).toBe('accepted');
    expect(bench.types).toEqual(['control.accepted', 'policy.activation_decided', 'policy.activated']);
    expect(bench.installation.store.events.at(-1)?.payload).toMatchObject({
      policyRevision: NEW,
      previousRevision: REVISION,
      activationId,
      author: { sub: 'olga' },
      approver: { sub: 'olivia' },
    });
    expect(bench.row).toMatchObject({ state: 'activated', decided_by: 'olivia' });
    expect(bench.installation.revision).toBe(NEW);
    expect(bench.standby.moves).toEqual(['entered', 'left']);
  });

  it('may say no: nothing is loaded, nothing changes', async () => {
    const activationId = await bench.propose();
    expect(await bench.decide(activationId, SECOND, { decision: 'deny' })).toBe('accepted');
    expect(bench.types).toEqual(['control.accepted', 'policy.activation_decided']);
    expect(bench.row).toMatchObject({ state: 'denied' });
    expect([bench.installation.revision, bench.standby.moves]).toEqual([REVISION, []]);
  });

  it.each([
    ['the author', OPERATOR, 'approver_not_allowed'],
    ['an agent of another operator', callerWith({ ...SECOND, isAgent: true }), 'not_authorized'],
    ['an approver', APPROVER, 'not_authorized'],
    ['an operator of another tenant', callerWith({ ...SECOND, tenant: 'globex' }), 'not_authorized'],
  ] as const)('is not %s, and the refusal is recorded', async (_, caller, code) => {
    const activationId = await bench.propose();
    expect(await bench.decide(activationId, caller)).toBe(code);
    expect(bench.types).toEqual(['control.rejected']);
    expect([bench.row?.state, bench.installation.revision]).toEqual(['proposed', REVISION]);
  });

  it('decides once', async () => {
    const activationId = await bench.propose();
    await bench.decide(activationId, SECOND, { decision: 'deny' });
    expect(await bench.decide(activationId)).toBe('policy_activation_closed');
    expect(bench.installation.revision).toBe(REVISION);
  });

  it('decides about exactly the revision that was shown', async () => {
    const activationId = await bench.propose();
    expect(await bench.decide(activationId, SECOND, { revision: 'sha256:other' })).toBe('policy_activation_stale');
  });

  it('cannot allow a set that comes out another with the manifests of now', async () => {
    const activationId = await bench.propose();
    bench.report = reportOf('sha256:with-new-manifests');
    expect(await bench.decide(activationId)).toBe('policy_activation_stale');
    expect([bench.row?.state, bench.installation.revision]).toEqual(['proposed', REVISION]);
    expect(bench.standby.moves).toEqual(['left']);
  });

  it('cannot allow a change of a set that is no longer in force', async () => {
    const [first, next] = [await bench.propose(), await bench.propose()];
    await bench.decide(first);
    expect(await bench.decide(next)).toBe('policy_activation_stale');
    expect(await bench.decide('pac_none')).toBe('policy_activation_not_found');
  });

  it('comes too late after the deadline', async () => {
    const activationId = await bench.propose();
    bench.installation.clock.advance(86_400_000);
    expect(await bench.decide(activationId)).toBe('policy_activation_closed');
  });
});

describe('a proposal that nobody decides', () => {
  it('expires as an event at its deadline, not before', async () => {
    await bench.propose();
    bench.installation.clock.advance(86_399_999);
    expect([await bench.expire(), bench.row?.state]).toEqual([0, 'proposed']);
    bench.installation.clock.advance(1);
    expect([await bench.expire(), bench.row?.state]).toEqual([0, 'expired']);
    expect(bench.types).toEqual(['policy.activation_expired']);
    expect(bench.installation.store.events.at(-1)?.payload).toMatchObject({ because: 'overdue' });
  });

  it('ends when another set comes into force', async () => {
    const first = await bench.propose();
    await bench.propose();
    await bench.decide(first);
    await bench.expire();
    const states = bench.installation.store.rows('policy_activations').map(({ state }) => state);
    expect(states).toEqual(['activated', 'expired']);
    expect(bench.installation.store.events.at(-1)?.payload).toMatchObject({ because: 'superseded' });
  });

  it('is left alone when somebody decides in the same moment', async () => {
    const activationId = await bench.propose();
    bench.installation.clock.advance(86_400_000);
    const { store } = bench.installation;
    store.beforeCommit = () => {
      const [row] = store.rows('policy_activations');
      Object.assign(row ?? {}, { state: 'denied' });
    };
    expect(await bench.expire()).toBe(0);
    expect(bench.row).toMatchObject({ activation_id: activationId, state: 'denied' });
  });
});

describe('a shadow', () => {
  it('by new files is kept, set and asked', async () => {
    expect(await bench.shadow({ files: FILES })).toBe('accepted');
    expect(bench.types).toEqual(['control.accepted', 'policy.shadow_set']);
    expect(bench.installation.store.rows('policy_shadow')).toMatchObject([{ revision: NEW, set_by: 'olga' }]);
    expect(bench.shadowed).toEqual([NEW]);
  });

  it('by a revision must be a set that is kept', async () => {
    expect(await bench.shadow({ revision: NEW })).toBe('policy_set_unknown');
    await bench.propose();
    expect(await bench.shadow({ revision: NEW })).toBe('accepted');
    expect(bench.shadowed).toEqual([NEW]);
  });

  it('that does not pass its check is refused', async () => {
    bench.report = REFUSED;
    expect(await bench.shadow({ files: FILES })).toBe('policy_set_refused');
    expect([bench.shadowed, bench.installation.store.rows('policy_shadow')]).toEqual([[], []]);
  });

  it('ends when it is told, and there must be one', async () => {
    expect(await bench.shadow(null)).toBe('policy_shadow_not_set');
    await bench.shadow({ files: FILES });
    expect(await bench.shadow(null)).toBe('accepted');
    expect(bench.types).toEqual(['control.accepted', 'policy.shadow_cleared']);
    expect([bench.installation.store.rows('policy_shadow'), bench.shadowed]).toEqual([[], [NEW, null]]);
  });

  it('is set once when the command comes again', async () => {
    await bench.shadow({ files: FILES }, OPERATOR, 'cmd-1');
    await bench.shadow({ files: FILES }, OPERATOR, 'cmd-1');
    expect(bench.shadowed).toEqual([NEW]);
  });

  it.each([
    ['an agent', AGENT],
    ['an operator of another tenant', callerWith({ ...OPERATOR, tenant: 'globex' })],
  ])('is not set by %s', async (_, caller) => {
    expect(await bench.shadow({ files: FILES }, caller)).toBe('not_authorized');
    expect(bench.shadowed).toEqual([]);
  });
});
