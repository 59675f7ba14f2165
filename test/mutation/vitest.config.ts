import { defineConfig } from 'vitest/config';

// Left out: the properties, because what they find depends on chance, and the largest states, which take seconds each and
// hold the bounds rather than the logic. One thread without isolation, because each mutant is another run of Vitest.
export default defineConfig({
  test: {
    include: ['test/batch/**/*.test.ts'],
    exclude: ['**/*.property.test.ts', '**/snapshot-size.test.ts'],
    isolate: false,
    testTimeout: 60_000,
  },
});
