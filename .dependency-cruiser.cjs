// @ts-check
/**
 * What a folder of src/ may import besides itself. A folder imports only from rows above its own; the order is the
 * architecture. The table is complete: a folder that is not in it may not exist.
 *
 * @type {Record<string, readonly string[]>}
 */
const MAY_IMPORT = {
  domain: [],
  client: [],
  'ledger/core': ['domain'],
  'policy/core': ['domain'],
  'proxy/core': ['domain'],
  config: ['domain'],
  system: ['config', 'domain'],
  egress: ['config', 'domain', 'system'],
  storage: ['config', 'domain', 'system', 'ledger/core'],
  secrets: ['config', 'domain', 'system', 'storage', 'egress'],
  identity: ['config', 'domain', 'system', 'storage', 'egress', 'secrets'],
  capabilities: ['config', 'domain', 'system', 'storage', 'egress'],
  policy: ['config', 'domain', 'system', 'storage', 'egress', 'secrets', 'identity', 'capabilities'],
  outbox: ['config', 'domain', 'system', 'storage', 'egress', 'secrets'],
  ledger: ['config', 'domain', 'system', 'storage', 'egress', 'secrets'],
  sessions: ['config', 'domain', 'system', 'storage'],
  contracts: ['config', 'domain', 'system', 'storage', 'sessions'],
  proxy: ['config', 'domain', 'system', 'storage', 'egress', 'secrets', 'capabilities', 'policy'],
  // prettier-ignore
  control: ['config', 'domain', 'system', 'storage', 'secrets', 'identity', 'capabilities', 'policy', 'sessions', 'contracts'],
  runtime: ['config', 'domain', 'system', 'storage', 'identity'],
  // prettier-ignore
  http: ['config', 'domain', 'system', 'identity', 'capabilities', 'policy', 'sessions', 'contracts', 'ledger', 'control', 'runtime', 'client/contract'],
  mcp: ['config', 'domain', 'system', 'identity', 'capabilities', 'policy', 'control', 'runtime', 'client/contract'],
  console: ['config', 'system', 'identity', 'control', 'runtime', 'client/contract'],
  cli: ['config', 'domain', 'system', 'storage', 'secrets', 'identity', 'capabilities', 'policy', 'ledger', 'client'],
};

/** Pure code that every folder below these rows may import. */
const CORES = ['ledger/core', 'policy/core', 'proxy/core'];
const ABOVE_CORES = ['domain', 'client', ...CORES];

const COMPOSITION = '^src/(main|server|start-work|app\\.module)\\.ts$';
const SPEC = '\\.spec\\.ts$';
const PURE = '^src/(?:domain|[^/]+/core)/';
const DRIVERS = ['typeorm', 'better-sqlite3', 'pg', 'node:sqlite'];
const WIRE = ['undici', 'http', 'https', 'http2', 'net', 'tls', 'dns', 'dns/promises', 'dgram', 'child_process'];

/** @param {string} row */
function pathOf(row) {
  return row === 'client/contract' ? '^src/client/contract(\\.|/)' : `^src/${row}/`;
}

/** @param {readonly string[]} names packages or modules of node */
function modules(names) {
  const list = names.map((name) => name.replaceAll('.', '\\.')).join('|');
  return [`node_modules/(?:@types/)?(?:${list})(?:/|$)`, `^(?:node:)?(?:${list})$`];
}

/** One rule per row: the folder reaches nothing in src/ but itself and what its row names. */
const tableRules = Object.entries(MAY_IMPORT).map(([folder, row]) => {
  const cores = ABOVE_CORES.includes(folder) ? [] : CORES;
  const inside = Object.keys(MAY_IMPORT).filter((other) => other.startsWith(`${folder}/`));
  const application = folder === 'cli' ? [COMPOSITION] : [];
  return {
    name: `imports-of-${folder.replace('/', '-')}`,
    comment: `${folder}/ may import: ${row.join(', ') || 'nothing'} (and itself).`,
    severity: 'error',
    from: { path: pathOf(folder), pathNot: [...inside.map(pathOf), SPEC] },
    to: { path: '^src/', pathNot: [folder, ...row, ...cores].map(pathOf).concat(application) },
  };
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: /** @type {import('dependency-cruiser').IForbiddenRuleType[]} */ ([
    ...tableRules,
    {
      name: 'unknown-folder',
      comment:
        'Every folder of src/ has a row in the table; only main.ts, server.ts, start-work.ts and app.module.ts stand beside them.',
      severity: 'error',
      from: { path: '^src/', pathNot: [...Object.keys(MAY_IMPORT).map(pathOf), COMPOSITION] },
      to: {},
    },
    {
      name: 'unknown-folder-alone',
      comment: 'The same, for a file that imports nothing.',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: [...Object.keys(MAY_IMPORT).map(pathOf), COMPOSITION] },
      to: {},
    },
    {
      name: 'cli-loads-the-application-dynamically',
      comment: 'Offline commands must not boot the server: cli/ reaches the composition by import() only.',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: COMPOSITION, dynamic: false },
    },
    {
      name: 'no-cycle',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'pure-code-imports-no-module',
      comment: 'domain/ and every core/ hash with node:crypto and know no framework, driver, file or network.',
      severity: 'error',
      from: { path: PURE, pathNot: SPEC },
      to: { pathNot: ['^src/', '^(?:node:)?crypto$'] },
    },
    {
      name: 'core-imports-only-pure-code',
      comment: 'Whatever its parent may import, a core/ reaches only domain/ and itself.',
      severity: 'error',
      from: { path: '^src/([^/]+)/core/' },
      to: { path: '^src/', pathNot: ['^src/domain/', '^src/$1/core/'] },
    },
    {
      name: 'only-storage-knows-a-driver',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/storage/' },
      to: { path: modules(DRIVERS) },
    },
    {
      name: 'only-egress-opens-a-connection',
      comment: 'The HTTP server in main.ts excepted.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/egress/', '^src/main\\.ts$', SPEC] },
      to: { path: modules(WIRE) },
    },
    {
      name: 'product-never-imports-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: SPEC },
      to: { path: ['^(?:test|examples|bench)/', SPEC] },
    },
    {
      name: 'product-imports-only-dependencies',
      comment: 'What runs is listed under "dependencies"; development tools stay out of it.',
      severity: 'error',
      from: { path: '^src/', pathNot: SPEC },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], pathNot: '/@types/' },
    },
    {
      name: 'every-import-resolves',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ]),
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(?:dist|coverage)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    enhancedResolveOptions: {
      extensions: ['.ts', '.mts', '.js', '.mjs', '.cjs', '.json', '.d.ts'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'require', 'default', 'types'],
    },
  },
};
