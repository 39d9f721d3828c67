/**
 * A scripted harness: the part of an agent that talks to models and tools, with a script in place of the model. It keeps
 * nothing of its own; everything it needs to go on is in its durable session, so that any other instance can take over.
 *
 * Runs as a process of its own: `node harness.mjs URL TOKEN SESSION INSTANCE begin|go-on`. Prints a line of JSON per step.
 */
const [url = '', token = '', sessionId = '', instanceId = '', what = ''] = process.argv.slice(2);

/** @param {object} step */
const tell = (step) => console.log(JSON.stringify(step));

/**
 * @param {string} method @param {string} path @param {object | null} [body] @param {Record<string, string>} [headers]
 * @returns {Promise<any>}
 */
async function call(method, path, body = null, headers = {}) {
  const response = await fetch(`${url}/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  });
  const answer = /** @type {any} */ (await response.json());
  if (!response.ok) {
    tell({ step: 'refused', code: answer.code });
    throw new Error(`${method} ${path}: ${response.status} ${answer.code}: ${answer.detail ?? ''}`);
  }
  return answer;
}

let ownerEpoch = 0;
let nextSeq = 0;

/** Appends, and waits for the disk: a harness that was told "durable" loses nothing. @param {...object} events */
async function append(...events) {
  const path = `/sessions/${sessionId}/events?durable=true`;
  // The session itself writes too (what became of calls), so a batch may have to be placed again.
  for (;;) {
    try {
      const answer = await call('POST', path, { ownerEpoch, expectedSeq: nextSeq, events });
      nextSeq = answer.headSeq + 1;
      return;
    } catch (error) {
      if (!String(error).includes('seq_conflict')) throw error;
      nextSeq = (await call('GET', `/sessions/${sessionId}`)).log.headSeq + 1;
    }
  }
}

const text = (/** @type {string} */ words) => [{ type: 'text', text: words }];

/** The user asks, the "model" answers with a tool call, and the refund waits for a person. */
async function begin() {
  const session = await call('POST', '/sessions', {
    sessionId,
    metadata: { topic: 'refund' },
    harness: { instanceId },
  });
  ownerEpoch = session.ownerEpoch;
  nextSeq = session.log.headSeq + 1;
  await append({ type: 'user.message', payload: { messageId: 'm1', contents: text('Please refund order ord_1002.') } });
  const run = await call('POST', `/sessions/${sessionId}/runs`, {
    ownerEpoch,
    clientId: 'refund',
    goalRef: 'ticket-1',
  });
  const place = { runId: run.runId, turnId: 'turn-1', stepId: 'step-1' };
  const toolCall = { callId: 'toolu_1', name: 'refund.create', arguments: { orderId: 'ord_1002', amountMinor: 7500 } };
  await append(
    { type: 'turn.started', ...place, stepId: undefined, payload: {} },
    { type: 'step.started', ...place, payload: {} },
    { type: 'assistant.message', ...place, payload: { messageId: 'm2', contents: [], toolCalls: [toolCall] } },
  );
  const proposed = await call(
    'POST',
    '/tool-calls',
    { capability: toolCall.name, arguments: toolCall.arguments, runId: run.runId, turnId: 'turn-1', callId: 'toolu_1' },
    { 'idempotency-key': `${sessionId}-toolu_1` },
  );
  tell({ step: 'waiting', ownerEpoch, toolCallId: proposed.toolCallId, approvalId: proposed.approval.approvalId });
  // Now the harness waits, in the middle of its turn, until somebody kills it.
  for (;;) await new Promise((resolve) => setTimeout(resolve, 1000));
}

/** Another instance: attaches, learns what is known, asks nothing twice, and ends what was begun. */
async function goOn() {
  const packet = await call('POST', `/sessions/${sessionId}/attach`, { harness: { instanceId } });
  ownerEpoch = packet.ownerEpoch;
  nextSeq = packet.headSeq + 1;
  const [known] = packet.toolCalls;
  const { runId } = packet.runState.run;
  tell({ step: 'attached', ownerEpoch, known, nextSafe: packet.nextSafe, waitingCalls: packet.waitingCalls });
  const ended = await call('GET', `/tool-calls/${known.toolCallId}?wait=30`);
  tell({ step: 'answered', status: ended.status });
  // The answer to the call is in the history by itself: the session wrote it when it learnt how the call ended.
  const history = await answeredHistory();
  if (packet.nextSafe.includes('resume_run')) {
    // Nobody waited for anything when the session was loaded: the old turn was closed, and a new one begins.
    await call('POST', '/control', { type: 'resume', target: { runId } });
    await append({ type: 'turn.started', runId, turnId: 'turn-2', payload: {} });
    await answerUser({ runId, turnId: 'turn-2' });
  } else {
    const place = { runId, turnId: 'turn-1' };
    await append({ type: 'step.ended', ...place, stepId: 'step-1', payload: { outcome: 'completed' } });
    await answerUser(place);
  }
  const run = await call('POST', `/runs/${runId}/complete`, {});
  const { agentState } = await call('GET', `/sessions/${sessionId}/state`);
  const roles = agentState.history.messages.map((/** @type {any} */ message) => message.role);
  tell({ step: 'done', run: run.status, roles, answer: history.at(-1).disposition });
}

/** The "model" sees the answer of the tool and has nothing more to ask. @param {{ runId: string, turnId: string }} place */
const answerUser = (place) =>
  append(
    { type: 'step.started', ...place, stepId: 'step-2', payload: {} },
    {
      type: 'assistant.message',
      ...place,
      stepId: 'step-2',
      payload: { messageId: 'm3', contents: text('Your refund is on its way.'), toolCalls: [] },
    },
    { type: 'step.ended', ...place, stepId: 'step-2', payload: { outcome: 'completed' } },
    { type: 'turn.ended', ...place, payload: { outcome: 'completed' } },
  );

/** The history once the open call has its answer. @returns {Promise<any[]>} */
async function answeredHistory() {
  for (;;) {
    const { agentState } = await call('GET', `/sessions/${sessionId}/state`);
    const { messages } = agentState.history;
    if (messages.at(-1).role === 'tool') return messages;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

await (what === 'begin' ? begin() : goOn());
