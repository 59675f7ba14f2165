import { defineConfig } from 'vitest/config';

// The fast loop: what tests the core, sheets, the client and webhooks, without the files that fill memory or sockets.
const SLOW = [
  'test/batch/snapshot-size.test.ts',
  'test/sheet/{many-names,unreadable}.test.ts',
  'test/service-client/{truth-table,download}.test.ts',
];

export default defineConfig({
  test: {
    pool: 'forks',
    fsModuleCache: true,
    // One process for many files: starting one for each takes longer than the tests.
    isolate: false,
    include: ['test/{batch,sheet,service-client,webhook}/**/*.test.ts'],
    exclude: ['**/*.long.test.ts', ...SLOW],
  },
});
