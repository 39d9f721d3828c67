import { describe, expect, it } from '@jest/globals';
import { ApprovalDeskBench, codeOf, person } from '../../../test/builders/approval-desk.js';

const PEOPLE = Array.from({ length: 10 }, (_, n) => person(`p${n}`, 'finance'));
const QUORUM = 7;

/** Sends a word until it is answered with something else than "try again". */
async function insist(word: () => Promise<unknown>): Promise<unknown> {
  for (;;) {
    const code = await codeOf(word());
    if (code !== 'contended') return code;
  }
}

describe('1,000 parallel votes by ten people', () => {
  it('count each person once, grant exactly at the quorum, and grant once [G07]', async () => {
    const bench = new ApprovalDeskBench();
    const id = await bench.asked([{ group: 'finance', count: QUORUM, notRequester: true }]);
    const words = Array.from({ length: 100 }, () => PEOPLE).flat();
    const codes = await Promise.all(words.map((who) => insist(() => bench.decide(id, who))));
    const { state } = await bench.approval(id);
    expect(state).toMatchObject({ status: 'granted' });
    expect(state.votes).toHaveLength(QUORUM);
    expect(new Set(state.votes.map(({ sub }) => sub)).size).toBe(QUORUM);
    const types = bench.installation.store.events.map(({ envelope }) => envelope.eventType);
    expect(types.filter((type) => type === 'approval.vote_recorded')).toHaveLength(QUORUM);
    expect(types.filter((type) => type === 'approval.granted')).toHaveLength(1);
    expect(types.filter((type) => type === 'capability.authorized')).toHaveLength(1);
    const late = codes.filter((code) => code === 'approval_already_decided');
    expect(late).toHaveLength((PEOPLE.length - QUORUM) * 100);
  });

  it('of two who disagree leave one decision, a hundred times', async () => {
    for (let round = 0; round < 100; round += 1) {
      const bench = new ApprovalDeskBench();
      const id = await bench.asked();
      const [allowing, denying] = await Promise.all([
        insist(() => bench.decide(id, person('rev-1', 'finance'))),
        insist(() => bench.decide(id, person('rev-2', 'finance'), { decision: 'deny' })),
      ]);
      expect([allowing, denying].map(String).toSorted()).toEqual(['approval_already_decided', 'recorded']);
      const { status } = (await bench.approval(id)).state;
      expect(status).toBe(allowing === 'recorded' ? 'granted' : 'denied');
      expect(await bench.statusOf(id)).toBe(status === 'granted' ? 'authorized' : 'denied');
    }
  });
});
