import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

// Processes that are started and killed, in real time, on the cores that the other tests would take.
const WHOLE = [
  'test/cli/**/*.test.ts',
  'test/chaos/**/*.test.ts',
  'test/workflows/**/*.test.ts',
  'test/create-batch/creators.test.ts',
  'test/package{,.long}.test.ts',
];

// Of these, those where every command's time counts, or that take the whole machine: one at a time.
const ALONE = [
  'test/cli/{cluster,failures,interrupt,rehearsal,two-at-once}{,.long}.test.ts',
  'test/chaos/{cycles,frozen,postgres,servers}.long.test.ts',
  'test/package.test.ts',
];

const SIZES = { short: 'test/**/!(*.long).test.ts', long: 'test/**/*.long.test.ts' } as const;

/** The tests of one size: what takes the cores, then what waits more than it works, then what needs the machine for itself. */
export function projectsOf(size: 'short' | 'long'): TestProjectInlineConfiguration[] {
  const otherSize = SIZES[size === 'long' ? 'short' : 'long'];
  const project = (
    name: string,
    include: readonly string[],
    exclude: readonly string[],
    maxWorkers: number,
    groupOrder: number,
  ): TestProjectInlineConfiguration => ({
    extends: true,
    test: {
      name,
      include: [...include],
      exclude: [...exclude, otherSize],
      maxWorkers,
      sequence: { groupOrder },
    },
  });
  return [
    project('parts', ['test/**/*.test.ts'], WHOLE, 2, 0),
    // The long ones wait for outages and clocks most of the time.
    project('patient', WHOLE, ALONE, size === 'long' ? 5 : 4, 1),
    project('whole', ALONE, [], 1, 2),
  ];
}

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
    projects: projectsOf('short'),
  },
});
