// One sheet, one service, and two places that know nothing of each other: two laptops, or a clean machine every night. Their
// batches have the same name and the same content; only the birth mark distinguishes their runs.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Summary } from '../../src/results/summary.ts';
import { Stage, type Ended } from '../stage/stage.ts';
import { expectOneRunPerRow, runsOf } from '../stage/truth.ts';

const ROWS = 40;
const DAY_MS = 86_400_000;
const CLOCK = pathToFileURL(join(import.meta.dirname, '../stage/clock-off.ts')).href;
const DEPLOYMENTS = JSON.stringify([
  { name: 'portraits', concurrencyLimit: 16, coldStartSeconds: 0, runSeconds: 0.5, pictureSize: 32 },
]);
/** Lost answers, which send both of them to the lists. */
const FAULTS = ['--fault', 'reset-answer=0.1', '--fault', 'reset-request=0.03'];

describe('one sheet in two folders', () => {
  let stage = new Stage();
  beforeEach(() => (stage = new Stage()));
  afterEach(() => stage.close());

  const run = (place: string, ...args: readonly string[]): Promise<Ended> =>
    stage.run(['run', stage.path('sheet.csv'), '-d', 'portraits', '-c', '8', ...args], environmentOf(place));
  const environmentOf = (place: string) => ({
    RUNSHEET_HOME: stage.path(place, 'home'),
    RUNSHEET_OUT: stage.path(place, 'batches'),
  });

  /** What the place came to, held against the service: its own runs, one for each row, all of them counted, and no others. */
  const expectOwnRunsOnly = async (place: string, ended: Ended): Promise<Summary> => {
    expect([place, ended.code, ended.stderr]).toEqual([
      place,
      0,
      expect.stringContaining(`${ROWS} of ${ROWS} rows succeeded`),
    ]);
    const folder = ended.stdout.trim();
    expect(folder.startsWith(stage.path(place, 'batches'))).toBe(true);
    const own = runsOf(await stage.truth(), stage.batchFile(folder));
    expectOneRunPerRow(own, ROWS);
    expect(new Set(own.map(({ status }) => status))).toEqual(new Set(['success']));
    const named = stage.results(folder).map(({ run_id }) => run_id);
    expect(new Set(named)).toEqual(new Set(own.map(({ id }) => id)));
    const summary = JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8')) as Summary;
    const { requests, duplicates } = summary;
    expect([place, duplicates.runs, existsSync(join(folder, 'duplicates.jsonl'))]).toEqual([place, 0, false]);
    expect(requests.accepted + requests.adopted.list + requests.adopted.webhook).toBe(ROWS);
    return summary;
  };
  const expectVerified = async (place: string): Promise<void> => {
    const { code, stdout } = await stage.run(['verify'], environmentOf(place));
    expect([place, code, stdout]).toEqual([place, 0, expect.not.stringContaining('NOT')]);
  };

  it('concurrently: each pays for its own runs, and neither adopts, cancels or counts the runs of the other', async () => {
    await stage.service(['--deployments', stage.write('deployments.json', DEPLOYMENTS), ...FAULTS]);
    stage.sheet(ROWS);
    const both = await Promise.all([run('here', '--poll'), run('there', '--poll')]);
    const summaries = [await expectOwnRunsOnly('here', both[0]), await expectOwnRunsOnly('there', both[1])];
    expect(summaries[0]?.batch).toBe(summaries[1]?.batch);
    expect(summaries.reduce((sum, { requests }) => sum + requests.adopted.list, 0)).toBeGreaterThan(0);
    expect(await stage.truth()).toHaveLength(2 * ROWS);
    await expectVerified('here');
    await expectVerified('there');
  });

  it('a day later, and again on a clean machine: each buys its own rows, and the first batch does not change', async () => {
    const args = ['--deployments', stage.write('deployments.json', DEPLOYMENTS), ...FAULTS];
    const now = stage.environment;
    stage.environment = {
      ...now,
      NODE_OPTIONS: `--import ${CLOCK}?file=${stage.write('clock', String(-DAY_MS))}`,
    };
    const yesterday = await stage.service(args);
    stage.environment = { ...stage.environment, NODE_OPTIONS: '' };
    stage.sheet(ROWS);
    const first = await run('here', '--poll');
    await expectOwnRunsOnly('here', first);
    await yesterday.kill();

    await stage.service(args, Number(new URL(yesterday.base).port));
    await expectOwnRunsOnly('there', await run('there', '--poll'));
    const kept = stage.batchFile(stage.path('there', 'batches', stage.batchFile(first.stdout.trim()).batch));
    for (const name of ['home', 'batches']) rmSync(stage.path('there', name), { recursive: true });
    const again = await run('there');
    await expectOwnRunsOnly('there', again);
    expect(stage.batchFile(again.stdout.trim()).content).toBe(kept.content);
    expect(await stage.truth()).toHaveLength(3 * ROWS);
    expectOneRunPerRow(runsOf(await stage.truth(), kept), ROWS);
    await expectOwnRunsOnly('here', await run('here'));
    await expectVerified('here');
    await expectVerified('there');
  });
});
