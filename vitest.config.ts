import { readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Processes that are started and killed, in real time, on the cores that the other tests would take.
const WHOLE = [
  'test/cli/**/*.test.ts',
  'test/chaos/**/*.test.ts',
  'test/workflows/**/*.test.ts',
  'test/library/*.long.test.ts',
  'test/batches/{killed-creator,overlapping}.long.test.ts',
  'test/errors/*.long.test.ts',
  'test/applications/*.long.test.ts',
  'test/comfy/own-gpus.long.test.ts',
  'test/programs/*.long.test.ts',
  'test/package{,.long}.test.ts',
  'test/temporal/spare-stack.long.test.ts',
];

// Of these, those where every command's time counts, or that take the whole machine: one at a time.
const ALONE = [
  'test/cli/{cluster,rehearsal,two-at-once}{,.long}.test.ts',
  'test/chaos/{cycles,frozen,postgres,servers}.long.test.ts',
];

/** Files that replace a module for their whole process, or measure its heap or speed. */
const OWN_PROCESS = [
  'test/activities/collect-rows.test.ts',
  'test/activities/download-outputs.test.ts',
  'test/audit/list-runs.test.ts',
  'test/doors/doors.test.ts',
  'test/vendors/described-prices.test.ts',
  'test/sheet/people/mutated-sheets.test.ts',
  'test/sheet/large.long.test.ts',
];

/** The files that take longest, which begin first: vitest knows no times in a fresh clone. */
const LONGEST = [
  'console/pipelines',
  'errors/cluster.long',
  'package.long',
  'simulation/worlds.long',
  'batches/killed-creator.long',
  'cli/readers.long',
  'cli/slow-files.long',
  'cli/retry.long',
  'chaos/kill-all',
  'errors/quick',
  'simulation/simulation',
  'histories/replay',
  'webhook/half-open.long',
  'temporal/binary',
  'run-service/fuzz',
  'service-client/truth-table',
  'temporal/control-port',
].map((name) => `/test/${name}.test.ts`);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const rank = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return rank === -1 ? LONGEST.length : rank;
    };
    const sorted = await super.sort(files);
    // Groups stay in their order.
    return [...Map.groupBy(sorted, ({ project }) => project.config.sequence.groupOrder).values()].flatMap(
      (ofOne) => ofOne.toSorted((a, b) => rankOf(a) - rankOf(b)),
    );
  }
}

const SINCE_MS = Date.now();

const ROOMY_BYTES = 4 * 2 ** 30;

/** The folder of the short tests' files: memory if the machine has room for it, because a disk takes a sixth of their time. */
function memoryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.includes(' /dev/shm '));
    // Tests also start programs that they have written there.
    const isUsable = mount !== undefined && !/[ ,](noexec|ro)[ ,]/.test(mount);
    return isUsable && bavail * bsize > ROOMY_BYTES ? '/dev/shm' : tmpdir();
  } catch {
    return tmpdir();
  }
}

const FOLDERS = { short: memoryFolder(), long: tmpdir() } as const;

const SIZES = { short: 'test/**/!(*.long).test.{ts,tsx}', long: 'test/**/*.long.test.{ts,tsx}' } as const;

/** The tests of one size; those that need the machine for themselves come last. */
export function projectsOf(size: 'short' | 'long'): TestProjectInlineConfiguration[] {
  const otherSize = SIZES[size === 'long' ? 'short' : 'long'];
  const project = (
    name: string,
    include: readonly string[],
    exclude: readonly string[],
    maxWorkers: number,
    groupOrder: number,
    // One process for many files: starting one for each, and loading what it imports, takes as long as a third of the tests.
    isolate = size === 'long',
  ): TestProjectInlineConfiguration => ({
    extends: true,
    test: {
      name,
      // Batches of tests are none of the developer's.
      env: {
        XDG_STATE_HOME: join(FOLDERS[size], `runsheet-state-${process.pid}`),
        TMPDIR: FOLDERS[size],
        TESTS_SINCE_MS: String(SINCE_MS),
      },
      include: [...include],
      exclude: [...exclude, otherSize],
      maxWorkers,
      sequence: { groupOrder },
      isolate,
    },
  });
  // While tests wait for processes or time-outs, others have the cores.
  const apart = project('apart', OWN_PROCESS, [], 5, 0, true);
  if (size === 'short') return [apart, project('parts', ['test/**/*.test.{ts,tsx}'], OWN_PROCESS, 5, 0)];
  return [
    apart,
    project('parts', ['test/**/*.test.{ts,tsx}'], [...WHOLE, ...OWN_PROCESS], 5, 0),
    project('patient', WHOLE, ALONE, 5, 0),
    project('whole', ALONE, [], 1, 1),
  ];
}

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  test: {
    // The SDK's native core is loaded by the tests: processes, not threads.
    pool: 'forks',
    // What is compiled once serves all projects, and the next run.
    fsModuleCache: true,
    sequence: { sequencer: LongestFirst },
    testTimeout: 180_000,
    hookTimeout: 180_000,
    coverage: {
      provider: 'v8',
      include: ['src/batch/**', 'src/options/**'],
      thresholds: { lines: 100, functions: 100, branches: 100, statements: 100 },
    },
    projects: projectsOf('short'),
  },
});
