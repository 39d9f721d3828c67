/** The work as a Restate service with one durable step. Needs PORT and TOOL_URL. */
import { withResolvers } from './with-resolvers.mjs';
import { callTool } from './refund-call.mjs';

// The SDK uses what Node has from version 22 on.
Object.assign(Promise, { withResolvers: Reflect.get(Promise, 'withResolvers') ?? withResolvers });
const restate = await import('@restatedev/restate-sdk');

const refund = restate.service({
  name: 'Refund',
  handlers: {
    run: async (/** @type {any} */ context, /** @type {unknown} */ body) => {
      const key = context.rand.uuidv4();
      return context.run('refund', () => callTool(body, key));
    },
  },
});
const port = Number(process.env.PORT);
await restate.serve({ services: [refund], port });
console.log(JSON.stringify({ listening: `http://127.0.0.1:${port}` }));
process.on('SIGTERM', () => process.exit(0));
