import { describe, expect, it } from '@jest/globals';
import {
  AGENT,
  APPROVER,
  callerWith,
  Installation,
  OPERATOR,
  REVISION,
  TENANT,
} from '../../../test/builders/installation.js';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import { standbyOf } from '../../../test/support/loaded-policies.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { Caller } from '../../identity/caller.js';
import { problem } from '../../policy/engine/policy-problem.js';
import { refusedReport, type LoadReport } from '../../policy/engine/policy-set.js';
import { PolicyActivation } from '../../policy/policy-activation.js';
import { StoredSets } from '../../policy/life/stored-sets.js';
import type { PolicyService, StandbySet } from '../../policy/policy.service.js';
import { ReloadPolicies } from './reload-policies.command.js';
import { ReloadPoliciesHandler } from './reload-policies.handler.js';

const ACCEPTED: LoadReport = {
  accepted: true,
  revision: 'sha256:policy-2',
  schemaDigest: 'sha256:schema-2',
  policyIds: ['permit-refund'],
  problems: [],
  warnings: [],
  unattended: [],
};
const REFUSED = refusedReport([problem('syntax', 'a bracket is missing', { file: 'refunds.cedar' })]);

class Bench {
  readonly installation: Installation;
  report: LoadReport = ACCEPTED;
  loads = 0;
  standby = standbyOf(REFUSED);

  constructor(operatorTenant: string | null = TENANT, mode: 'folder' | 'approved' = 'folder') {
    this.installation = new Installation({
      settings: settingsWith({ installation: { operatorTenant }, policy: { activation: mode } }),
    });
  }

  reload(caller: Caller = OPERATOR, commandId: string | null = null): Promise<unknown> {
    const { desk, commands, settings } = this.installation;
    const policy = {
      prepare: async (): Promise<StandbySet> => {
        this.loads += 1;
        this.standby = standbyOf(this.report);
        return this.standby;
      },
    };
    const activation = new PolicyActivation(desk, policy as unknown as PolicyService, new StoredSets(desk));
    return new ReloadPoliciesHandler(commands, activation, settings)
      .execute(new ReloadPolicies(caller, 'new limits', commandId))
      .then(
        () => 'accepted',
        (error: { code?: string }) => error.code ?? error,
      );
  }

  get types(): readonly string[] {
    return this.installation.store.lastTypes;
  }

  get revision(): string {
    return this.installation.revision;
  }
}

describe('loading the policies again', () => {
  it('puts the new set in force in the unit of the command, which is its cause', async () => {
    const bench = new Bench();
    expect(await bench.reload()).toBe('accepted');
    expect(bench.types).toEqual(['control.accepted', 'policy.activated']);
    expect(bench.revision).toBe('sha256:policy-2');
    expect(bench.standby.moves).toEqual(['entered', 'left']);
    const [command, activated] = bench.installation.store.events;
    expect(activated?.envelope).toMatchObject({
      causationId: command?.envelope.eventId,
      causeKind: 'event',
      commandId: command?.envelope.commandId,
      actor: { sub: 'olga' },
    });
  });

  it('with nothing new in the folder is a command like any other, and no new set', async () => {
    const bench = new Bench();
    bench.report = { ...ACCEPTED, revision: REVISION };
    expect(await bench.reload()).toBe('accepted');
    expect(bench.types).toEqual(['control.accepted']);
    expect(bench.revision).toBe(REVISION);
  });

  it('that is refused is a fact of its own beside the refused command [T03]', async () => {
    const bench = new Bench();
    bench.report = REFUSED;
    await bench.reload();
    const [refused, rejected] = bench.installation.store.events;
    expect(refused?.envelope).toMatchObject({ eventType: 'policy.activation_refused', actor: { sub: 'olga' } });
    expect(refused?.payload).toEqual({ problems: REFUSED.problems });
    expect(rejected?.envelope.eventType).toBe('control.rejected');
    expect(bench.standby.moves).toEqual(['left']);
  });

  it('is refused where a set comes into force by approval, and the folder is not even read', async () => {
    const bench = new Bench(TENANT, 'approved');
    expect(await bench.reload()).toBe('policy_activation_needs_approval');
    expect(bench.loads).toBe(0);
    expect(bench.types).toEqual(['control.rejected']);
  });

  it('that cannot be recorded leaves the engine with the set it has', async () => {
    const bench = new Bench();
    bench.installation.store.beforeCommit = () => {
      throw new CountersignError('store_unavailable', 'the disk is gone');
    };
    expect(await bench.reload()).toBe('store_unavailable');
    expect(bench.standby.moves).toEqual(['left']);
    expect(bench.revision).toBe(REVISION);
  });

  it('that is refused is answered with its problems, and leaves the set in force', async () => {
    const bench = new Bench();
    bench.report = REFUSED;
    expect(await bench.reload()).toBe('policy_set_refused');
    expect(bench.revision).toBe(REVISION);
    expect(bench.types).toEqual(['control.rejected']);
    expect(bench.installation.store.events.at(-1)?.payload).toMatchObject({
      code: 'policy_set_refused',
      details: { problems: ['refunds.cedar syntax: a bracket is missing'] },
    });
  });

  it('is answered as before when the same command comes again, without loading', async () => {
    const bench = new Bench();
    bench.report = REFUSED;
    expect(await bench.reload(OPERATOR, 'cmd-1')).toBe('policy_set_refused');
    bench.report = ACCEPTED;
    expect(await bench.reload(OPERATOR, 'cmd-1')).toBe('policy_set_refused');
    expect(bench.loads).toBe(1);
    expect(bench.revision).toBe(REVISION);
    expect(await bench.reload(OPERATOR, 'cmd-2')).toBe('accepted');
  });

  it.each([
    ['an agent', AGENT, TENANT],
    ['an agent with the role of an operator', callerWith({ roles: ['operator'] }), TENANT],
    ['an approver', APPROVER, TENANT],
    ['an operator of another tenant', callerWith({ ...OPERATOR, tenant: 'globex' }), TENANT],
    ['any operator where no tenant operates the installation', OPERATOR, null],
  ] as const)('is refused to %s, and nothing is loaded', async (_, caller, operatorTenant) => {
    const bench = new Bench(operatorTenant);
    expect(await bench.reload(caller)).toBe('not_authorized');
    expect(bench.loads).toBe(0);
    expect(bench.types).toEqual(['control.rejected']);
    expect(bench.revision).toBe(REVISION);
  });
});
