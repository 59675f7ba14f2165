import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Summary } from '../../src/results/summary.ts';
import type { Run } from '../../src/service-client/contract/run.ts';
import { openOtherClock } from '../stage/other-service.ts';
import { Stage, until } from '../stage/stage.ts';
import { expectOneRunPerRow } from '../stage/truth.ts';

const HOUR_MS = 3_600_000;
const OUR_CLOCK = pathToFileURL(join(import.meta.dirname, '../stage/clock-off.ts')).href;
const deployment = (runSeconds: number): string =>
  JSON.stringify([
    {
      name: 'portraits',
      concurrencyLimit: 40,
      coldStartSeconds: 0,
      runSeconds,
      runTimeoutSeconds: 60,
      pictureSize: 32,
    },
  ]);

/** A clock by the moments since which it is off, and by how much. */
type Steps = readonly (readonly [afterMs: number, offMs: number])[];

const WAYS: readonly (readonly [string, Steps])[] = [
  ['an hour behind', [[0, -HOUR_MS]]],
  ['an hour ahead', [[0, HOUR_MS]]],
  // The clock takes both steps while the runs go on.
  [
    'set back by an hour and then forward by two',
    [
      [0, 0],
      [14_000, -HOUR_MS],
      [20_000, HOUR_MS],
    ],
  ],
];

async function withStage(work: (stage: Stage) => Promise<void>): Promise<void> {
  const stage = new Stage();
  try {
    await work(stage);
  } finally {
    await stage.close();
  }
}

/** Runs of 20 s for a deployment that gives up after a minute: an hour's error would end each of them. */
const SLOW_ROWS = 30;
async function runSlowRows(stage: Stage, truthBase: string): Promise<readonly Run[]> {
  const ended = await stage.run(['run', stage.sheet(SLOW_ROWS), '-d', 'portraits', '-c', '30', '--poll']);
  expect(ended.stderr).toContain(`${SLOW_ROWS} of ${SLOW_ROWS} rows succeeded`);
  stage.environment = { ...stage.environment, NODE_OPTIONS: '' };
  const runs = await stage.truth(truthBase);
  expectOneRunPerRow(runs, SLOW_ROWS);
  return runs;
}
const wordsOf = (runs: readonly Run[]): ReadonlySet<string> => new Set(runs.map(({ status }) => status));

describe.concurrent('with a run service whose clock is', () => {
  it.each(WAYS)('%s, runs of 20 s are not cancelled, and each row has exactly one', (_, steps) =>
    withStage(async (stage) => {
      const { base } = await stage.service([
        '--deployments',
        stage.write('deployments.json', deployment(20)),
      ]);
      const began = Date.now();
      const offAt = (at: number): number =>
        steps.findLast(([afterMs]) => at - began >= afterMs)?.[1] ?? steps[0]?.[1] ?? 0;
      const proxy = await openOtherClock(base, (at) => at + offAt(at));
      stage.environment = { ...stage.environment, RUNSHEET_API_URL: proxy.base };
      const runs = await runSlowRows(stage, base);
      await proxy.close();
      expect(wordsOf(runs)).toEqual(new Set(['success']));
    }),
  );

  it('an hour behind, runs whose responses were lost are found in its lists, and no row is bought twice', () =>
    withStage(async (stage) => {
      // More than a page of the lists that are searched for lost answers.
      const rows = 260;
      const faults = ['--fault', 'reset-answer=0.03', '--fault', 'reset-request=0.02'];
      const deployments = stage.write('deployments.json', deployment(0.3));
      const { base } = await stage.service(['--deployments', deployments, ...faults]);
      const proxy = await openOtherClock(base, (at) => at - HOUR_MS);
      stage.environment = { ...stage.environment, RUNSHEET_API_URL: proxy.base };
      const ended = await stage.run(['run', stage.sheet(rows), '-d', 'portraits', '-c', '40', '--poll']);
      await proxy.close();
      expect(ended.stderr).toContain(`${rows} of ${rows} rows succeeded`);
      expectOneRunPerRow(await stage.truth(base), rows);
      const { requests } = JSON.parse(readFileSync(join(stage.batch(), 'summary.json'), 'utf8')) as Summary;
      expect(requests.adopted.list).toBeGreaterThan(0);
      expect(requests.absent).toBeGreaterThan(0);
    }));
});

describe.concurrent('with our own clock', () => {
  it.each(WAYS)('%s, runs of 20 s are not cancelled, and each row has exactly one', (_, steps) =>
    withStage(async (stage) => {
      const { base } = await stage.service([
        '--deployments',
        stage.write('deployments.json', deployment(20)),
      ]);
      const file = stage.write('clock', String(steps[0]?.[1]));
      stage.environment = {
        ...stage.environment,
        NODE_OPTIONS: `--import ${OUR_CLOCK}?file=${file}`,
      };
      const stepping = async (): Promise<void> => {
        await until(async () => (await stage.truth(base)).length > 0, 'its runs go on');
        for (const [afterMs, offMs] of steps.slice(1)) {
          await wait(afterMs - 13_000);
          writeFileSync(file, String(offMs));
        }
      };
      const stepped = stepping();
      const runs = await runSlowRows(stage, base);
      await stepped;
      expect(wordsOf(runs)).toEqual(new Set(['success']));
    }),
  );
});
