/**
 * `npm run dev`: the payment provider of the example and `countersign dev` in front of it, running until Ctrl-C, with curl
 * lines to copy. The tokens are printed by `countersign dev`.
 */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startProvider } from './stack.mjs';

const DATA = fileURLToPath(new URL('../../data/', import.meta.url));
const COUNTERSIGN = fileURLToPath(new URL('../../dist/cli/countersign.js', import.meta.url));
const PROVIDER_PORT = 7412;

mkdirSync(DATA, { recursive: true, mode: 0o700 });
const apiKey = 'example-provider-key';
const provider = await startProvider({
  db: join(DATA, 'refunds-example-provider.sqlite'),
  port: PROVIDER_PORT,
  apiKey,
});
const proxy = spawn(process.execPath, [COUNTERSIGN, 'dev'], {
  env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', PAYMENTS_KEY: apiKey },
  stdio: ['ignore', 'pipe', 'inherit'],
});

const WORDS = `
Countersign is running, and the payment provider at ${provider.url}. Ctrl-C stops both.
Copy the export lines above into another shell: an address, and tokens that are valid for 8 hours.

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
`;

createInterface({ input: proxy.stdout }).on('line', (line) => {
  console.log(line);
  if (line.startsWith('export AUDITOR=')) console.log(WORDS);
});

let stopping = false;
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    proxy.kill('SIGTERM');
  });
}
/** @type {number | null} */
const code = await new Promise((resolve) => proxy.once('close', resolve));
await provider.kill('SIGTERM');
process.exit(code ?? 1);
