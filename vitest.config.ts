import { defineConfig } from 'vitest/config';

// Processes that are started and killed, in real time, on the cores that the other tests would take.
const WHOLE = [
  'test/cli/**/*.test.ts',
  'test/chaos/**/*.test.ts',
  'test/workflows/**/*.test.ts',
  'test/package.test.ts',
];

export default defineConfig({
  test: {
    // The SDK's native core is loaded by the tests: processes, not threads.
    pool: 'forks',
    testTimeout: 180_000,
    hookTimeout: 180_000,
    coverage: {
      provider: 'v8',
      include: ['src/batch/**'],
      thresholds: { 'src/batch/**': { lines: 100, functions: 100, branches: 100, statements: 100 } },
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: WHOLE,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'whole', include: WHOLE, fileParallelism: false, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
