/** What the bench asks of the proxy one by one, over connections that stay open. */
import { Pool } from 'undici';

const CONNECTIONS = 64;

/** @typedef {{ status: number, body: any }} Answer */

export class ToolCallClient {
  /** @param {string} url of the proxy */
  constructor(url) {
    this.pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  }

  /**
   * @param {string} token
   * @param {string} path
   * @returns {Promise<Answer>}
   */
  async get(token, path) {
    return answerOf(await this.pool.request({ method: 'GET', path, headers: { authorization: `Bearer ${token}` } }));
  }

  /**
   * @param {import('./closed-loop.mjs').LoopRequest} request
   * @returns {Promise<Answer>}
   */
  async post(request) {
    return answerOf(await this.pool.request({ method: 'POST', ...request }));
  }

  /** All calls of a run, by the names of their statuses. @param {string} token of an auditor @param {string} runId */
  async statusesOf(token, runId) {
    /** @type {Record<string, number>} */
    const counts = {};
    for (let cursor = ''; ;) {
      const { body } = await this.get(token, `/v1/tool-calls?runId=${runId}&limit=200${cursor}`);
      for (const { status } of body.items) counts[status] = (counts[status] ?? 0) + 1;
      if (body.nextCursor === null) return counts;
      cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
    }
  }

  close() {
    return this.pool.close();
  }
}

/** @param {import('undici').Dispatcher.ResponseData} response @returns {Promise<Answer>} */
async function answerOf({ statusCode, body }) {
  return { status: statusCode, body: await body.json() };
}
