/** Calls that people are asked about: from their yes to the request at the tool, and many at once who say yes to the same question. */
import { quantile, rounded } from './closed-loop.mjs';
import { installation } from './processes.mjs';
import { readRecorded } from './recorded.mjs';
import { ToolCallClient } from './tool-call-client.mjs';
import { ASKS_AMOUNT_MINOR, gatedRequests, referenceOf } from './work.mjs';

/** How many questions are decided at a time. */
const PARALLEL = /** @type {const} */ ([1, 16]);
const CONTENDED_AT_A_TIME = 8;

/**
 * @typedef {{ approvals: number, p50Ms: number, p99Ms: number }} Waits
 * @typedef {object} ApprovalFigures
 * @property {Record<string, Waits>} approveToDispatched by the number of questions decided at a time; from sending the decision to the
 *   arrival of the request at the tool
 * @property {Waits & { deciders: number, rate: number }} contended every question is answered by so many people at once; `rate` in
 *   questions per second, from the first decision to the last answer
 *
 * @typedef {{ series: string, index: number, approvalId: string, toolCallId: string, digest: string }} Question
 */

/**
 * @param {string} dir
 * @param {import('./processes.mjs').Tool} tool
 * @param {{ approvals: number, contended: number, deciders: number, others?: number | undefined }} plan
 * @returns {Promise<{ figures: ApprovalFigures, problems: string[] }>}
 */
export async function measureApprovals(dir, tool, plan) {
  const place = await installation(dir, tool.url, { others: plan.others });
  const proxy = await place.start();
  await tool.forget();
  await tool.watchArrivals();
  const leads = await Promise.all(
    Array.from({ length: plan.deciders }, (_, n) =>
      place.tokenOf({ sub: `lead-${n}`, roles: ['approver'], groups: ['bench-lead'] }),
    ),
  );
  const desk = new Desk(new ToolCallClient(proxy.url), place.token, leads);
  try {
    await desk.decideAll(tool, await desk.ask('warm', plan.approvals), { parallel: PARALLEL[1], deciders: 1 });
    /** @type {Record<string, Waits>} */
    const approveToDispatched = {};
    for (const parallel of PARALLEL) {
      const questions = await desk.ask(`alone-${parallel}`, plan.approvals);
      const { waits } = await desk.decideAll(tool, questions, { parallel, deciders: 1 });
      approveToDispatched[String(parallel)] = waits;
    }
    const contested = await desk.ask('contended', plan.contended);
    const { waits, rate } = await desk.decideAll(tool, contested, {
      parallel: CONTENDED_AT_A_TIME,
      deciders: plan.deciders,
    });
    const exitCode = await desk.close(() => proxy.kill('SIGTERM'));
    const asked = (1 + PARALLEL.length) * plan.approvals + plan.contended;
    return {
      figures: { approveToDispatched, contended: { ...waits, deciders: plan.deciders, rate: rounded(rate, 1) } },
      problems: [
        ...desk.problems,
        ...differences(await tool.counts(), readRecorded(place.database), { asked, exitCode }),
      ],
    };
  } finally {
    await proxy.kill('SIGKILL');
  }
}

/**
 * @param {import('./processes.mjs').ToolCounts} counts
 * @param {import('./recorded.mjs').Recorded} recorded
 * @param {{ asked: number, exitCode: number | null }} expected
 */
function differences({ executions, repeatedKeys }, { statuses, otherEvents, dense }, { asked, exitCode }) {
  /** @type {[string, unknown, unknown][]} */
  const facts = [
    ['approved calls that completed', statuses['completed'], asked],
    ['executions of approved calls', executions, asked],
    ['keys of approved calls executed twice', repeatedKeys, 0],
    ['approvals granted', otherEvents['approval.granted'], asked],
    ['approvals consumed', otherEvents['approval.consumed'], asked],
    ['positions are dense after the approvals', dense, true],
    ['exit code after the approvals', exitCode, 0],
  ];
  return facts
    .filter(([, is, wanted]) => is !== wanted)
    .map(([what, is, wanted]) => `${what}: ${String(is)}, expected ${String(wanted)}`);
}

class Desk {
  /** @type {string[]} */
  problems = [];

  /** @param {ToolCallClient} client @param {string} token of the harness @param {readonly string[]} leads tokens of those who decide */
  constructor(client, token, leads) {
    this.client = client;
    this.token = token;
    this.leads = leads;
  }

  /** Proposes calls that wait for an approval. @param {string} series @param {number} count @returns {Promise<Question[]>} */
  async ask(series, count) {
    const request = gatedRequests(this.token, series, { amountMinor: ASKS_AMOUNT_MINOR, waitSeconds: 0 });
    /** @type {Question[]} */
    const questions = [];
    await inParallel(count, PARALLEL[1], async (index) => {
      const { status, body } = await this.client.post(request(index));
      const approvalId = body.approval?.approvalId;
      if (status !== 202 || typeof approvalId !== 'string') {
        throw new Error(`a call that needs an approval was answered ${status} ${JSON.stringify(body).slice(0, 300)}`);
      }
      const shown = await this.client.get(this.leads[0] ?? '', `/v1/approvals/${approvalId}`);
      questions.push({ series, index, approvalId, toolCallId: body.toolCallId, digest: shown.body.digest });
    });
    return questions;
  }

  /**
   * Every question gets a yes of so many people at the same moment; then its call is awaited.
   * @param {import('./processes.mjs').Tool} tool
   * @param {readonly Question[]} questions
   * @param {{ parallel: number, deciders: number }} plan
   */
  async decideAll(tool, questions, { parallel, deciders }) {
    /** @type {Map<Question, bigint>} */
    const sentAt = new Map();
    const from = performance.now();
    await inParallel(questions.length, parallel, async (next) => {
      const question = /** @type {Question} */ (questions[next]);
      sentAt.set(question, process.hrtime.bigint());
      const answers = await Promise.all(this.leads.slice(0, deciders).map((lead) => this.#decide(lead, question)));
      this.#look(question, answers);
      const { body } = await this.client.get(this.token, `/v1/tool-calls/${question.toolCallId}?wait=20`);
      if (body.status !== 'completed') this.problems.push(`the approved call ${question.toolCallId} is ${body.status}`);
    });
    const elapsedMs = performance.now() - from;
    const { at } = await tool.arrivals();
    const waits = questions.map((question) => {
      const arrived = at[referenceOf(question.series, question.index)];
      return arrived === undefined ? Number.NaN : Number(BigInt(arrived) - (sentAt.get(question) ?? 0n)) / 1e6;
    });
    waits.sort((left, right) => left - right);
    return {
      waits: {
        approvals: questions.length,
        p50Ms: rounded(quantile(waits, 0.5), 3),
        p99Ms: rounded(quantile(waits, 0.99), 3),
      },
      rate: (questions.length / elapsedMs) * 1000,
    };
  }

  /** @param {string} lead @param {Question} question */
  #decide(lead, { approvalId, digest }) {
    return this.client.post({
      path: `/v1/approvals/${approvalId}/decision`,
      headers: { authorization: `Bearer ${lead}`, 'content-type': 'application/json' },
      body: JSON.stringify({ decision: 'allow', digest }),
    });
  }

  /** One decision wins; whoever is late is shown it, or told that it was made. @param {Question} question @param {readonly import('./tool-call-client.mjs').Answer[]} answers */
  #look({ approvalId }, answers) {
    const strange = answers.filter(({ status }) => status !== 200 && status !== 409);
    if (strange.length > 0)
      this.problems.push(`a decision on ${approvalId} was answered ${JSON.stringify(strange[0])}`);
    const winners = new Set(
      answers.filter(({ status }) => status === 200).map(({ body }) => JSON.stringify(body.decidedBy)),
    );
    if (winners.size !== 1) this.problems.push(`${winners.size} decisions on ${approvalId}: ${[...winners].join(' ')}`);
  }

  /** @template T @param {() => Promise<T>} then */
  async close(then) {
    await this.client.close();
    return then();
  }
}

/** @param {number} count @param {number} parallel @param {(index: number) => Promise<void>} work */
async function inParallel(count, parallel, work) {
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(parallel, count) }, async () => {
      while (next < count) {
        next += 1;
        await work(next - 1);
      }
    }),
  );
}
