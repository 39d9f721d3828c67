/** The step of every peer: one request to the tool with an idempotency key. */
const url = `${process.env.TOOL_URL}/refund`;

/**
 * @param {unknown} body
 * @param {string} key
 * @returns {Promise<unknown>}
 */
export async function callTool(body, key) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  });
  return response.json();
}
