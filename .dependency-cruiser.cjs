/**
 * The import directions of ARCHITECTURE.md in executable form. Type imports count.
 * Right imports left: receipts (pure) <- health (pure) <- gather <- cli; receipts <- activities <- worker.ts.
 */
const pureReceipts =
  '^receipts/(receipt|envelope|contract|state|emitters|fold|digest|text|secrets|inspect|json-text|input|counts|store|refusals|errors|identity|duration)\\.ts$';
const pureHealth =
  '^health/(verdict|evidence|policy|classify|actions|report|explain|plan-retry|judgement|view|liveness|stops|findings|failure|valid-until|index)\\.ts$|^health/(rules|reference)/';
const smallLibraries = '^node_modules/(@noble/hashes|canonicalize|ms)/';
const only = (name, from, ...to) => ({ name, severity: 'error', from: { path: from }, to: { pathNot: [from, ...to] } });
const ban = (name, from, to) => ({ name, severity: 'error', from, to });

module.exports = {
  forbidden: [
    ban('no-cycle', {}, { circular: true }),
    only('receipts-pure', pureReceipts, smallLibraries),
    ban('receipts-at-the-bottom', { path: '^receipts/' }, { path: '^(activities|health|workflows|worker)' }),
    only('health-core-pure', pureHealth, pureReceipts, '^receipts/parse\\.ts$'),
    only(
      'workflow-sandbox',
      '^workflows/',
      pureReceipts,
      '^activities/',
      smallLibraries,
      '^node_modules/@temporalio/(workflow|common)/',
    ),
    ban('activity-types-only', { path: '^workflows/' }, { path: '^activities/', dependencyTypesNot: ['type-only'] }),
    ban('activities-without-postgres', { path: '^activities/' }, { path: '^(receipts/postgres|health|worker)' }),
    ban(
      'health-sends-messages-only',
      { path: '^health/' },
      { path: '^workflows/', pathNot: '^workflows/messages\\.ts$' },
    ),
    ban('gather-never-decides', { path: '^health/gather' }, { path: '^health/(classify|rules)' }),
    ban(
      'pg-in-one-place',
      { pathNot: '^(receipts/postgres|test|bench|bin/dev)/' },
      { path: '^node_modules/(@types/)?pg/' },
    ),
    ban(
      'zod-where-a-workflow-reaches',
      { path: '^(receipts|workflows)/', pathNot: '^receipts/(parse|schemas)\\.ts$' },
      { path: '^node_modules/zod/' },
    ),
    ban(
      'roots-are-roots',
      { pathNot: '^(test|health/(web|cli)|bin)/' },
      { path: '^(worker\\.ts$|health/(cli\\.ts$|cli/|web/)|test/)', pathNot: '^health/cli/' },
    ),
    // The reference shows cases as they are judged.
    ban('tests-import-nobody-imports-tests', { pathNot: '^(test|bench|bin/dev/reference)/' }, { path: '^test/' }),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
