import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { hexOf } from '../../../src/ledger/core/bundle/entry-line.js';
import { signCheckpoint } from '../../../src/ledger/core/notes/checkpoint.js';
import { formatVerifierKey } from '../../../src/ledger/core/notes/verifier-key.js';
import { consistencyProof } from '../../../src/ledger/core/tree/consistency.js';
import { inclusionProof } from '../../../src/ledger/core/tree/inclusion.js';
import { LeafNodes, rootAt } from '../../../src/ledger/core/tree/node-source.js';
import { span } from '../../builders/evidence-bundle.js';
import { LOG, ORIGIN } from '../../builders/evidence-keys.js';
import { leafOf, story } from '../../builders/evidence-story.js';

/** Where Debian's golang-golang-x-mod-dev puts its sources. */
const GO_PATH = '/usr/share/gocode';
const PROGRAM = fileURLToPath(new URL('../../verifier/go/main.go', import.meta.url));
const hasGo = spawnSync('go', ['version']).status === 0 && existsSync(`${GO_PATH}/src/golang.org/x/mod/sumdb/note`);
const unless = hasGo ? '' : ' (SKIPPED: no go with golang.org/x/mod on this machine)';

const leaves = story().map(leafOf);
const source = new LeafNodes(leaves);
const size = leaves.length;

function input(): object {
  const root = rootAt(source, size);
  return {
    Key: formatVerifierKey(LOG.key),
    Checkpoint: signCheckpoint({ origin: ORIGIN, size, root, extensions: [] }, [LOG]),
    Origin: ORIGIN,
    Size: size,
    Root: hexOf(root),
    Records: span(0, size).map((index) => ({
      Index: index,
      Leaf: hexOf(leaves[index] as Uint8Array),
      Proof: inclusionProof(source, index, size).map(hexOf),
    })),
    Trees: span(1, size + 1).map((first) => ({
      Size: first,
      Root: hexOf(rootAt(source, first)),
      Proof: consistencyProof(source, first, size).map(hexOf),
    })),
  };
}

describe('An implementation we did not write', () => {
  (hasGo ? it : it.skip)(`accepts our checkpoints and proofs: Go's sumdb${unless}`, () => {
    const cache = mkdtempSync(path.join(tmpdir(), 'go-verifier-'));
    try {
      const env = { ...process.env, GOPATH: GO_PATH, GO111MODULE: 'off', GOCACHE: cache, GOFLAGS: '' };
      const ran = spawnSync('go', ['run', PROGRAM], { input: JSON.stringify(input()), encoding: 'utf8', env });
      expect({ status: ran.status, output: ran.stdout, errors: ran.stderr }).toMatchObject({ status: 0, output: '' });
    } finally {
      rmSync(cache, { recursive: true, force: true });
    }
  });
});
