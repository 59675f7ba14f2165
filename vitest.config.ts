import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The SDK's native core is loaded by the tests: processes, not threads.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 180_000,
    hookTimeout: 120_000,
    coverage: {
      provider: 'v8',
      include: ['src/batch/**'],
      thresholds: { 'src/batch/**': { lines: 100, functions: 100, branches: 100, statements: 100 } },
    },
  },
});
