import { describe, expect, it } from '@jest/globals';
import { codeOf, OPEN, PreconditionBench, UNCHANGED } from '../../../test/builders/precondition-bench.js';
import { preconditionWith } from '../../../test/builders/precondition-examples.js';

describe('a proposal that people are asked about', () => {
  it('shows what it rests on as it was read, and keeps the digest and not the value', async () => {
    const bench = new PreconditionBench(UNCHANGED, OPEN);
    const id = await bench.asked();
    expect(await bench.status(id)).toBe('proposed');
    const observedAt = bench.installation.clock.iso;
    const { shown, preconditions } = bench.payload('approval.required');
    expect(shown).toMatchObject({
      preconditions: [
        { name: 'order_status', title: 'The order is as it was', value: 'open', observedAt },
        { name: 'is_open', title: 'The order is open', value: 'open', observedAt },
      ],
    });
    expect(preconditions).toEqual([
      { name: 'order_status', digest: expect.stringMatching(/^sha256:/), holds: true, observedAt },
      { name: 'is_open', digest: expect.stringMatching(/^sha256:/), holds: true, observedAt },
    ]);
    expect(bench.world.asked.map(({ method, url }) => `${method} ${url}`)).toEqual(
      Array.from({ length: 2 }, () => 'GET https://payments.example.com/api/v1/orders/o-1'),
    );
  });

  it('has another hash of what was shown for another value', async () => {
    const hashes = new Set<unknown>();
    for (const status of ['open', 'held']) {
      const bench = new PreconditionBench(UNCHANGED);
      bench.order({ status });
      await bench.asked();
      hashes.add(bench.payload('approval.required')['shownDigest']);
    }
    expect(hashes.size).toBe(2);
  });

  it.each<[string, unknown, object]>([
    ['hidden characters made visible', { status: 'open\u202e' }, { value: 'open\\u{202E}' }],
    ['a number', { status: 12.5 }, { value: 12.5 }],
    ['null', { status: null }, { value: null }],
    ['a long text as its digest', { status: 'x'.repeat(121) }, { digest: expect.stringMatching(/^sha256:/) }],
    ['an object as its digest', { status: { a: 1 } }, { digest: expect.stringMatching(/^sha256:/) }],
    [
      'a credential as its mask',
      { status: 'Bearer abcdefghijklmnop' },
      { value: expect.stringMatching(/^\[redacted:/) },
    ],
  ])('shows %s', async (_, order, shown) => {
    const bench = new PreconditionBench(UNCHANGED);
    bench.order(order);
    await bench.asked();
    const { preconditions } = bench.payload('approval.required')['shown'] as { preconditions: readonly object[] };
    expect(preconditions[0]).toEqual({
      name: 'order_status',
      title: 'The order is as it was',
      observedAt: bench.installation.clock.iso,
      ...shown,
    });
  });

  it('shows a value of a secret name, and one that repeats a redacted argument, masked', async () => {
    const bench = new PreconditionBench(preconditionWith({ at: '/apiKey' }), OPEN);
    bench.order({ status: 'open', apiKey: 'plain-words' });
    await bench.asked();
    const token = new PreconditionBench(preconditionWith({ at: '/card' }));
    token.order({ card: 'tok-77' });
    token.installation.policy.ask();
    await token.installation.propose({ arguments: { orderId: 'o-1', amountMinor: 5, cardToken: 'tok-77' } });
    const texts = [bench, token].map((one) => JSON.stringify(one.payload('approval.required')));
    expect(texts[0]).not.toContain('plain-words');
    expect(texts[1]).not.toContain('tok-77');
    expect(texts[1]).toMatch(/"value":"\[redacted:/);
  });

  it('says that there is no value where absence is one', async () => {
    const bench = new PreconditionBench(preconditionWith({ absent: 'is_a_value' }));
    bench.order(undefined);
    await bench.asked();
    expect(bench.payload('approval.required')['shown']).toMatchObject({ preconditions: [{ absent: true }] });
  });

  it('is denied with reasons, and nobody is asked, where something does not hold', async () => {
    const bench = new PreconditionBench(UNCHANGED, OPEN);
    bench.order({ status: 'refunded' });
    const id = await bench.asked();
    expect((await bench.installation.call(id)).state).toMatchObject({ status: 'denied', deniedBy: 'precondition' });
    expect(bench.installation.store.lastTypes.slice(-3)).toEqual([
      'tool.call.proposed',
      'policy.decided',
      'tool.call.denied',
    ]);
    expect(bench.payload('tool.call.denied')).toEqual({
      basis: 'precondition',
      reasons: ['precondition failed: The order is open'],
    });
    expect(bench.installation.store.rows('approvals')).toEqual([]);
    expect(bench.installation.store.rows('open_intents')).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['the tool cannot be reached', 'connect_failed'],
    ['it does not answer in time', 'timeout'],
    ['it answers with an error', { status: 500 }],
    ['it redirects', { status: 302 }],
    ['it says too much', { status: 200, text: '{"status":"open"}', isCut: true }],
    ['it says one thing twice', { status: 200, text: '{"status":"open","status":"refunded"}' }],
    ['it speaks no JSON', { status: 200, text: '<html>' }],
    ['it forbids reading', { status: 403 }],
  ])('is not recorded when %s, and its key stays free', async (_, failure) => {
    const bench = new PreconditionBench(UNCHANGED);
    bench.world.failure = failure as typeof bench.world.failure;
    const once = () => {
      bench.installation.policy.ask();
      return bench.installation.propose({ idempotencyKey: 'same' });
    };
    expect(await codeOf(once())).toBe('precondition_unavailable');
    expect(bench.installation.store.units).toEqual([]);
    bench.world.failure = null;
    expect(await bench.status(await once())).toBe('proposed');
  });

  it('reads nothing of the world where policy denies, and where policy allows until it is sent', async () => {
    const bench = new PreconditionBench(UNCHANGED, OPEN);
    bench.installation.policy.deny('no');
    await bench.installation.propose();
    bench.installation.policy.allow();
    const id = await bench.installation.propose({ arguments: { orderId: 'o-1', amountMinor: 6 } });
    expect(bench.world.asked).toEqual([]);
    expect(await bench.status(id)).toBe('authorized');
  });

  it('without preconditions has no such field anywhere and reads nothing', async () => {
    const bench = new PreconditionBench();
    const id = await bench.asked();
    expect(bench.payload('approval.required')).not.toHaveProperty('preconditions');
    expect(bench.payload('approval.required')['shown']).not.toHaveProperty('preconditions');
    await bench.vote(id);
    expect(await bench.dispatch(id)).toBe('dispatching');
    expect(bench.payload('tool.call.dispatching')).not.toHaveProperty('preconditions');
    expect(bench.world.asked).toEqual([]);
  });
});

describe('a vote that would grant', () => {
  it('grants when everything is as it was shown', async () => {
    const bench = new PreconditionBench(UNCHANGED, OPEN);
    const id = await bench.asked();
    expect(await bench.vote(id)).toBe('recorded');
    expect((await bench.approval(id)).state.status).toBe('granted');
    expect(bench.world.asked).toHaveLength(4);
  });

  it('is refused when it is not, and the call is asked about anew with what is true now [K-82]', async () => {
    const bench = new PreconditionBench(UNCHANGED);
    const id = await bench.asked();
    const before = await bench.approval(id);
    bench.order({ status: 'held' });
    expect(await bench.vote(id)).toBe('precondition_changed');
    expect(bench.payload('approval.invalidated')).toMatchObject({
      reason: 'precondition_changed',
      preconditions: ['order_status'],
    });
    const after = await bench.approval(id);
    expect(after.row.approval_id).not.toBe(before.row.approval_id);
    expect(after.row.supersedes_approval_id).toBe(before.row.approval_id);
    expect(after.state).toMatchObject({ status: 'pending', votes: [] });
    expect(bench.payload('approval.required')['shown']).toMatchObject({ preconditions: [{ value: 'held' }] });
    expect(bench.payload('control.rejected')).toMatchObject({ code: 'precondition_changed' });
    expect(await bench.vote(id)).toBe('recorded');
  });

  it('shows the value that was read when it was refused, not one that was read later', async () => {
    const bench = new PreconditionBench(UNCHANGED);
    const id = await bench.asked();
    bench.order({ status: 'held' });
    let reads = 0;
    bench.world.onAsked = () => {
      reads += 1;
      if (reads > 1) bench.order({ status: 'open' });
    };
    expect(await bench.vote(id)).toBe('precondition_changed');
    expect(bench.payload('approval.required')['shown']).toMatchObject({ preconditions: [{ value: 'held' }] });
    expect(reads).toBe(1);
  });

  it('ends the call when what must hold does not any more', async () => {
    const bench = new PreconditionBench(OPEN);
    const id = await bench.asked();
    bench.order({ status: 'refunded' });
    expect(await bench.vote(id)).toBe('precondition_changed');
    expect((await bench.installation.call(id)).state).toMatchObject({ status: 'denied', deniedBy: 'precondition' });
    expect((await bench.approval(id)).state.status).toBe('invalidated');
  });

  it.each<[string, (bench: PreconditionBench) => void, 'fay' | 'gus', string]>([
    [
      'its time',
      ({ installation }) => installation.clock.moveTo('2031-01-01T11:00:00.000Z'),
      'fay',
      'approval_expired',
    ],
    ['the person', () => {}, 'gus', 'approver_not_allowed'],
    [
      'the definition',
      ({ installation }) => (installation.gate.bound = () => undefined),
      'fay',
      'capability_version_changed',
    ],
    ['the world', (bench) => bench.order({ status: 'held' }), 'fay', 'precondition_changed'],
  ])('is refused for %s with a code of its own, and without that granted [K-82]', async (_, change, sub, code) => {
    const bench = new PreconditionBench(UNCHANGED);
    const [id, fine] = [await bench.asked(), await bench.asked(1, 9)];
    expect(await bench.vote(fine)).toBe('recorded');
    expect((await bench.approval(fine)).state.status).toBe('granted');
    change(bench);
    expect(await bench.vote(id, sub)).toBe(code);
    expect((await bench.approval(id)).state.status).not.toBe('granted');
  });

  it('is not recorded while nothing can be read, and counts under the same id when it can', async () => {
    const bench = new PreconditionBench(UNCHANGED);
    const id = await bench.asked();
    const units = bench.installation.store.units.length;
    bench.world.failure = 'timeout';
    expect(await bench.vote(id, 'fay', 'cmd-1')).toBe('precondition_unavailable');
    expect(bench.installation.store.units).toHaveLength(units);
    expect((await bench.approval(id)).state).toMatchObject({ status: 'pending', votes: [] });
    bench.world.failure = null;
    expect(await bench.vote(id, 'fay', 'cmd-1')).toBe('recorded');
  });

  it('is the only one that reads: a vote that is not yet enough does not, nor does one that is refused', async () => {
    const bench = new PreconditionBench(UNCHANGED);
    const id = await bench.asked(2);
    await bench.vote(id);
    expect(bench.world.asked).toHaveLength(1);
    expect(await bench.vote(id)).toBe('recorded');
    expect(bench.world.asked).toHaveLength(1);
    await bench.vote(id, 'fred');
    expect(bench.world.asked).toHaveLength(2);
    expect((await bench.approval(id)).state.status).toBe('granted');
  });

  it('is not fooled by a row that names the question of another approval', async () => {
    const bench = new PreconditionBench(UNCHANGED);
    const id = await bench.asked();
    bench.order({ status: 'held' });
    const other = await bench.installation.propose({ arguments: { orderId: 'o-1', amountMinor: 7 } });
    const { store } = bench.installation;
    const [own, foreign] = [(await bench.approval(id)).row, (await bench.approval(other)).row];
    store.seed('approvals', { ...own, required_event_id: foreign.required_event_id });
    expect(await bench.vote(id)).toBe('precondition_changed');
  });
});

describe('the dispatch of a call', () => {
  it('reads once more, and records what it read with the intent to send', async () => {
    const bench = new PreconditionBench(UNCHANGED, OPEN);
    const id = await bench.granted();
    bench.installation.clock.advance(1_000);
    expect(await bench.dispatch(id)).toBe('dispatching');
    expect(bench.payload('tool.call.dispatching')['preconditions']).toEqual([
      expect.objectContaining({ name: 'order_status', holds: true, observedAt: bench.installation.clock.iso }),
      expect.objectContaining({ name: 'is_open', holds: true }),
    ]);
    expect((await bench.approval(id)).state.status).toBe('consumed');
  });

  it('asks people anew when what they saw has changed [K-97]', async () => {
    const bench = new PreconditionBench(UNCHANGED);
    const id = await bench.granted();
    const before = await bench.approval(id);
    bench.order({ status: 'held' });
    expect(await bench.dispatch(id)).toBe('closed');
    expect(bench.sent).toBe(0);
    expect(bench.installation.store.lastTypes).toEqual([
      'approval.invalidated',
      'capability.authorization_withdrawn',
      'policy.decided',
      'approval.required',
    ]);
    expect(bench.payload('approval.invalidated')).toMatchObject({ reason: 'precondition_changed' });
    expect((await bench.approval(id)).row.supersedes_approval_id).toBe(before.row.approval_id);
    expect(await bench.vote(id)).toBe('recorded');
    expect(await bench.dispatch(id)).toBe('dispatching');
  });

  it('notices a value that is back again only if it is back when it is read', async () => {
    const bench = new PreconditionBench(UNCHANGED);
    const id = await bench.granted();
    bench.order({ status: 'held' });
    bench.order({ status: 'open' });
    expect(await bench.dispatch(id)).toBe('dispatching');
  });

  it('ends a call that policy alone allowed when what must hold does not, with proof of no effect', async () => {
    const bench = new PreconditionBench(OPEN);
    bench.order({ status: 'refunded' });
    const id = await bench.installation.propose();
    expect(await bench.dispatch(id)).toBe('closed');
    expect(bench.payload('tool.call.not_executed')).toEqual({
      reason: 'precondition_failed',
      reasons: ['precondition failed: The order is open'],
    });
    expect(bench.sent).toBe(0);
    expect(await bench.retry(id)).toBe('recorded');
    bench.order({ status: 'open' });
    expect(await bench.dispatch(id)).toBe('dispatching');
  });

  it('of what policy alone allowed needs no approval to compare with, but a value', async () => {
    const bench = new PreconditionBench(UNCHANGED);
    const id = await bench.installation.propose();
    bench.order(undefined);
    expect(await bench.dispatch(id)).toBe('closed');
    const another = await bench.installation.propose({ arguments: { orderId: 'o-1', amountMinor: 8 } });
    bench.order({ status: 'anything' });
    expect(await bench.dispatch(another)).toBe('dispatching');
  });

  it('holds what cannot be read now, unburnt, and sends it when it can', async () => {
    const bench = new PreconditionBench(UNCHANGED);
    const id = await bench.granted();
    const units = bench.installation.store.units.length;
    bench.world.failure = { status: 503 };
    expect(await bench.dispatch(id)).toBe('held');
    expect(bench.installation.store.units).toHaveLength(units);
    expect((await bench.approval(id)).state.status).toBe('granted');
    bench.world.failure = null;
    expect(await bench.dispatch(id)).toBe('dispatching');
    expect(bench.installation.log.lines).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'a precondition could not be read' }),
    );
  });

  it('sends nothing when the time ends, or the policy changes its mind, while the world is read', async () => {
    const late = new PreconditionBench(UNCHANGED);
    const id = await late.granted();
    late.world.onAsked = () => late.installation.clock.advance(1_000_000);
    expect(await late.dispatch(id)).toBe('held');
    const strict = new PreconditionBench(UNCHANGED);
    const other = await strict.granted();
    strict.world.onAsked = () => strict.installation.policy.deny('not any more');
    expect(await strict.dispatch(other)).toBe('closed');
    expect(await strict.status(other)).toBe('denied');
    expect(late.sent + strict.sent).toBe(0);
  });

  it('gives the attempt its whole time, however long the reading took', async () => {
    const bench = new PreconditionBench(UNCHANGED);
    const id = await bench.granted();
    bench.world.onAsked = () => bench.installation.clock.advance(4_000);
    expect(await bench.dispatch(id)).toBe('dispatching');
    const { deadline } = bench.payload('tool.call.dispatching');
    const { timeoutMs } = bench.installation.capabilities[0]?.manifest ?? { timeoutMs: 0 };
    expect(Date.parse(String(deadline))).toBe(bench.installation.clock.now() + timeoutMs);
  });

  it('sends nothing on the ground of a question that somebody replaced while the world was read', async () => {
    const bench = new PreconditionBench(UNCHANGED);
    const id = await bench.granted();
    let moved = false;
    bench.world.onAsked = async () => {
      if (moved) return;
      moved = true;
      bench.order({ status: 'held' });
      const { rejudgement } = bench.installation;
      await rejudgement.rejudge(await bench.approval(id), await bench.installation.call(id), 'policy_changed');
      await bench.vote(id);
      bench.order({ status: 'open' });
    };
    expect(await bench.dispatch(id)).toBe('held');
    expect(bench.sent).toBe(0);
    expect((await bench.approval(id)).state.status).toBe('granted');
    expect(await bench.dispatch(id)).toBe('closed');
    expect(bench.sent).toBe(0);
  });

  it('that policy now wants people for shows them what is true now', async () => {
    const bench = new PreconditionBench(UNCHANGED);
    const id = await bench.installation.propose();
    bench.installation.policy.ask();
    bench.world.failure = 'reset';
    expect(await bench.dispatch(id)).toBe('held');
    bench.world.failure = null;
    expect(await bench.dispatch(id)).toBe('closed');
    expect(bench.payload('approval.required')['shown']).toMatchObject({ preconditions: [{ value: 'open' }] });
  });
});

describe('a retry that people are asked about', () => {
  async function notExecuted(bench: PreconditionBench): Promise<string> {
    const id = await bench.asked();
    await bench.installation.record(id, { kind: 'close', closing: { reason: 'cancelled' } });
    return id;
  }

  it('shows what is true now', async () => {
    const bench = new PreconditionBench(UNCHANGED);
    const id = await notExecuted(bench);
    bench.order({ status: 'held' });
    expect(await bench.retry(id)).toBe('recorded');
    expect(bench.payload('approval.required')['shown']).toMatchObject({ preconditions: [{ value: 'held' }] });
  });

  it('is refused and stays possible where something does not hold, or cannot be read', async () => {
    const bench = new PreconditionBench(OPEN);
    const id = await notExecuted(bench);
    bench.order({ status: 'refunded' });
    expect(await bench.retry(id)).toBe('precondition_failed');
    bench.world.failure = 'timeout';
    expect(await bench.retry(id)).toBe('precondition_unavailable');
    expect(await bench.status(id)).toBe('not_executed');
    bench.world.failure = null;
    bench.order({ status: 'open' });
    expect(await bench.retry(id)).toBe('recorded');
  });
});
