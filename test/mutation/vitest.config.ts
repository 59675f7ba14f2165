import { defineConfig } from 'vitest/config';

// Without the properties: what they find depends on chance, and each takes seconds.
export default defineConfig({
  test: {
    include: ['test/batch/**/*.test.ts'],
    exclude: ['**/*.property.test.ts'],
    testTimeout: 60_000,
  },
});
