import { describe, expect, it } from '@jest/globals';
import { Installation, TENANT } from '../../test/builders/installation.js';
import { PAUSE_REVISION } from '../capabilities/pause-board.js';
import { Dispatcher } from '../proxy/executor/dispatcher.js';
import { NO_FACTS, type FactNeeds } from './core/facts.js';

const READS_SUSPENSION: FactNeeds = { facts: ['agentSuspended'], counters: [], run: false };

async function suspend(installation: Installation): Promise<void> {
  installation.store.seed('meta', { name: PAUSE_REVISION, value: `suspended-${installation.store.units.length}` });
  installation.store.seed('pauses', {
    tenant: TENANT,
    target_kind: 'agent',
    target: 'agent-7',
    reason: null,
    set_event_id: 'evt_1',
    set_at: installation.clock.iso,
  });
  await installation.gate.lookAgain();
}

describe('a suspended agent', () => {
  it('is a fact where policies read it, and the policy decides', async () => {
    const installation = new Installation();
    installation.policy.needs = READS_SUSPENSION;
    await suspend(installation);
    await installation.propose();
    expect(installation.policy.asked.at(-1)?.agentSuspended).toBe(true);
    expect(installation.store.rows('tool_calls')[0]?.status).toBe('dispatching');
  });

  it('is paused where none does', async () => {
    const installation = new Installation();
    await suspend(installation);
    await expect(installation.propose()).rejects.toMatchObject({ code: 'paused' });
    expect(installation.policy.asked).toEqual([]);
  });

  it('that is suspended while the policy is being asked is judged again, as suspended', async () => {
    const installation = new Installation();
    installation.policy.needs = READS_SUSPENSION;
    const decide = installation.policy.decide.bind(installation.policy);
    installation.policy.decide = async (request) => {
      if (request.agentSuspended === false) await suspend(installation);
      return decide(request);
    };
    await installation.propose();
    expect(installation.policy.asked.map(({ agentSuspended }) => agentSuspended)).toEqual([false, true]);
  });

  it('is not sent for on the word of before', async () => {
    const installation = new Installation();
    installation.policy.needs = READS_SUSPENSION;
    const id = await installation.authorized();
    await suspend(installation);
    const decide = installation.policy.decide.bind(installation.policy);
    installation.policy.decide = async (request) => {
      if (request.agentSuspended === true) installation.policy.deny('suspended');
      return decide(request);
    };
    const { desk, gate, judge, rejudgement, leases } = installation;
    expect(await new Dispatcher(desk, gate, judge, rejudgement, leases.authority).dispatch(TENANT, id)).toBe('closed');
    expect((await installation.call(id)).state).toMatchObject({ status: 'denied', deniedBy: 'policy_at_dispatch' });
  });
});

describe('a policy set that comes into force while facts are gathered', () => {
  it('is asked with the facts that it reads, not with those of the one before', async () => {
    const installation = new Installation();
    const decide = installation.policy.decide.bind(installation.policy);
    installation.policy.decide = async (request) => {
      const before = await decide(request);
      if (request.environment !== undefined) return before;
      installation.policy.needs = { facts: ['environment'], counters: [], run: false };
      installation.policy.inForce = 'sha256:policy-2';
      const [row] = installation.store.rows('policy_active');
      if (row !== undefined) installation.store.seed('policy_active', { ...row, revision: 'sha256:policy-2' });
      return { ...before, policyRevision: 'sha256:policy-2' };
    };
    await installation.propose();
    expect(installation.policy.asked.map(({ environment }) => environment)).toEqual([undefined, 'production']);
  });

  it('that changes every time is no answer, and nothing is recorded', async () => {
    const installation = new Installation();
    installation.policy.answer = { policyRevision: 'sha256:another' };
    await expect(installation.propose()).rejects.toMatchObject({ code: 'engine_error' });
    expect(installation.store.units).toEqual([]);
  });

  it('that reads nothing any more is asked without the facts that were recorded before', async () => {
    const installation = new Installation();
    installation.policy.needs = { facts: ['environment', 'riskScore'], counters: [], run: false };
    const id = await installation.authorized();
    installation.policy.needs = NO_FACTS;
    const { desk, gate, judge, rejudgement, leases } = installation;
    await new Dispatcher(desk, gate, judge, rejudgement, leases.authority).dispatch(TENANT, id);
    const asked = installation.policy.asked.at(-1);
    expect([asked?.environment, asked?.riskScore, asked?.riskInputs]).toEqual([undefined, undefined, undefined]);
  });
});
