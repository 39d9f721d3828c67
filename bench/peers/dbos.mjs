/** The work as a DBOS workflow with one step, behind `node:http`. Needs PGURL and TOOL_URL. */
import { createServer } from 'node:http';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { callTool } from './refund-call.mjs';

const refund = DBOS.registerWorkflow(
  async (/** @type {unknown} */ body) => {
    const key = DBOS.workflowID;
    return DBOS.runStep(() => callTool(body, key), { name: 'refund' });
  },
  { name: 'refundWorkflow' },
);
DBOS.setConfig({ name: 'bench', systemDatabaseUrl: process.env.PGURL, runAdminServer: false });
await DBOS.launch();

const server = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk) => (text += chunk));
  request.on('end', () => {
    refund(JSON.parse(text)).then(
      (/** @type {unknown} */ result) => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(result));
      },
      (/** @type {unknown} */ error) => {
        response.statusCode = 500;
        response.end(String(error));
      },
    );
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(JSON.stringify({ listening: `http://127.0.0.1:${port}` }));
});
process.on('SIGTERM', () => process.exit(0));
