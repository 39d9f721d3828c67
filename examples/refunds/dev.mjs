/** `npm run dev`: the provider and the proxy, running until Ctrl-C, with tokens and curl lines to copy. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PEOPLE, signingKeys, startProvider, startProxy } from './stack.mjs';

const DATA = fileURLToPath(new URL('../../data/', import.meta.url));
const PROXY_PORT = 7411;
const PROVIDER_PORT = 7412;

mkdirSync(DATA, { recursive: true, mode: 0o700 });
const keys = await signingKeys(join(DATA, 'refunds-example-keys'));
const apiKey = 'example-provider-key';
const provider = await startProvider({
  db: join(DATA, 'refunds-example-provider.sqlite'),
  port: PROVIDER_PORT,
  apiKey,
});
const proxy = await startProxy({
  env: { PAYMENTS_KEY: apiKey, COUNTERSIGN_HTTP__PORT: String(PROXY_PORT) },
}).catch(async (error) => {
  await provider.kill('SIGTERM');
  throw error;
});

const [harness, lena, omar, operator, auditor] = await Promise.all(
  [PEOPLE.harness, PEOPLE.lena, PEOPLE.omar, PEOPLE.operator, PEOPLE.auditor].map((person) => keys.token(person)),
);

console.log(`
Countersign is running at ${proxy.url}, the payment provider at ${provider.url}. Ctrl-C stops both.

Copy these tokens into your shell (valid for 8 hours):

  export CS=${proxy.url}
  export HARNESS=${harness}
  export LENA=${lena}
  export OMAR=${omar}
  export OPERATOR=${operator}
  export AUDITOR=${auditor}

A small refund runs at once:

  curl -s $CS/v1/tool-calls -H "authorization: Bearer $HARNESS" -H "content-type: application/json" \\
    -H "idempotency-key: refund-1001-a" -H "prefer: wait=10" \\
    -d '{"capability":"refund.create","arguments":{"orderId":"ord_1001","amountMinor":1200}}'

A larger one waits for a support lead:

  curl -s $CS/v1/tool-calls -H "authorization: Bearer $HARNESS" -H "content-type: application/json" \\
    -H "idempotency-key: refund-1002-a" \\
    -d '{"capability":"refund.create","arguments":{"orderId":"ord_1002","amountMinor":7500},"reason":"parcel lost"}'

Lena sees what is waiting, and allows it with the digest she was shown:

  curl -s $CS/v1/approvals?status=pending -H "authorization: Bearer $LENA"
  APPROVAL=...; DIGEST=...   # approvalId and digest of the item
  curl -s $CS/v1/approvals/$APPROVAL/decision -H "authorization: Bearer $LENA" -H "content-type: application/json" \\
    -d "{\\"decision\\":\\"allow\\",\\"digest\\":\\"$DIGEST\\"}"

What became of the call, and what an auditor sees:

  curl -s $CS/v1/tool-calls -H "authorization: Bearer $AUDITOR"
`);

let stopping = false;
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    void Promise.all([proxy.kill('SIGTERM'), provider.kill('SIGTERM')]).then(() => process.exit(0));
  });
}
const code = await proxy.exited;
if (!stopping) {
  console.error(proxy.output());
  await provider.kill('SIGTERM');
  process.exit(code ?? 1);
}
