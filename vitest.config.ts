import { defineConfig } from 'vitest/config';

// Processes that are started and killed, in real time, on the cores that the other tests would take.
const WHOLE = [
  'test/cli/**/*.test.ts',
  'test/chaos/**/*.test.ts',
  'test/workflows/**/*.test.ts',
  'test/package.test.ts',
];

// Of these, those that wait more than they work, and that judge by what was bought and not by how fast: three at a time.
const PATIENT = [
  'test/cli/{encryption,planted-secrets,rough-service,v1,migrate-check,bad-sheets,bad-input,bad-service,bad-surroundings,children,launcher,strangers,full-disk-service,full-disk-temporal,clock-off,webhooks}.test.ts',
  'test/chaos/{cut-off,frozen,kill-all,lossy,pauses,recover,servers,takeover}.test.ts',
  'test/workflows/**/*.test.ts',
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
        test: { name: 'patient', include: PATIENT, maxWorkers: 3, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: {
          name: 'whole',
          include: WHOLE,
          exclude: PATIENT,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
