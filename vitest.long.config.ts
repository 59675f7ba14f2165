import { defineConfig } from 'vitest/config';
import { LongestFirst, projectsOf } from './vitest.config.ts';

// Outages, kills and clocks in real time, and worlds of thousands of rows.
export default defineConfig({
  test: {
    pool: 'forks',
    fsModuleCache: true,
    sequence: { sequencer: LongestFirst },
    testTimeout: 300_000,
    hookTimeout: 180_000,
    projects: projectsOf('long'),
  },
});
