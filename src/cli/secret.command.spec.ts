import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from './command-line.js';
import { SECRET } from './secret.command.js';

const VALUE = 'canary-of-the-command-line-5Rt';
const config = fileURLToPath(new URL('../../examples/refunds/countersign.yaml', import.meta.url));

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-secret-'));
  writeFileSync(join(dir, 'value'), `${VALUE}\n`);
  writeFileSync(join(dir, 'token'), 'a.b.c\n');
});
afterAll(() => rmSync(dir, { recursive: true }));

async function put(url: string): Promise<{ code: number; said: string }> {
  const said: string[] = [];
  const write = (text: string): void => void said.push(text);
  const terminal = { environment: { COUNTERSIGN_DATA_DIR: join(dir, 'data') }, out: write, err: write };
  const args = ['secret', 'put', 'k', '--from-file', join(dir, 'value'), '--token-file', join(dir, 'token')];
  const code = await runCommandLine(
    [...args, '--config', config, '--url', url],
    { secret: () => Promise.resolve(SECRET) },
    terminal,
  );
  return { code, said: said.join('') };
}

describe('a secret that is put on a running server', () => {
  it('is not sent over a network in the clear: the command line refuses before anything leaves', async () => {
    const sent: unknown[] = [];
    const { fetch } = globalThis;
    globalThis.fetch = (async (...asked: unknown[]) => {
      sent.push(asked);
      throw new Error('nothing may be sent');
    }) as typeof fetch;
    try {
      const { code, said } = await put('http://countersign.example:8080');
      expect({ code, sent }).toEqual({ code: 1, sent: [] });
      expect(said).toContain('secret_connection_refused');
      expect(said).not.toContain(VALUE);
    } finally {
      globalThis.fetch = fetch;
    }
  });

  it('is sent to this machine, without the line break of its file', async () => {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      request.on('data', (chunk: Buffer) => bodies.push(chunk.toString()));
      request.on('end', () => response.end(JSON.stringify({ name: 'k', version: 1 })));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as { port: number };
      const { code, said } = await put(`http://127.0.0.1:${port}`);
      expect({ code, bodies }).toEqual({ code: 0, bodies: [JSON.stringify({ value: VALUE })] });
      expect(said).not.toContain(VALUE);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
