import { defineConfig } from 'vitest/config';

/** Projects say by folder which server a test needs: unit, cases and types need none. */
const project = (name: string, options: Record<string, unknown> = {}) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], ...options },
});

const withPostgres = { globalSetup: ['./test/support/global-postgres.ts'] };
const withBoth = { globalSetup: [...withPostgres.globalSetup, './test/support/global-temporal.ts'] };

export default defineConfig({
  test: {
    reporters: ['default', './test/support/closing-line.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    projects: [
      project('unit'),
      project('cases'),
      project('types'),
      project('store', withPostgres),
      project('workflow', withBoth),
      project('replay', withBoth),
      project('chaos', withBoth),
      project('cli', withBoth),
    ],
    coverage: {
      provider: 'v8',
      include: [
        'health/{classify,actions,policy,verdict,plan-retry,view,liveness,stops,findings,failure,valid-until}.ts',
        'health/rules/**/*.ts',
        'receipts/{emitters,fold,state}.ts',
      ],
      thresholds: { branches: 100, functions: 100, lines: 100, statements: 100 },
      reporter: ['text-summary'],
    },
  },
});
