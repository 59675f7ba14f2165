// A ladder of GPUs against the local run service, whose runs need memory by their size.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RowRecord } from '../../src/results/row-record.ts';
import type { Summary } from '../../src/results/summary.ts';
import type { Run } from '../../src/service-client/contract/run.ts';
import { finished } from '../stage/outage.ts';
import { sharedStage } from '../stage/shared-stage.ts';
import { deploymentsOf, type Stage, until } from '../stage/stage.ts';

const LADDER = ['T4', 'A10G', 'L40S', 'H100'];
/** The edge of a picture, and the cheapest rung with memory for it: 12, 20 and 40 GB. */
const SIZES = [
  { edge: 512, gpu: 'T4' },
  { edge: 960, gpu: 'A10G' },
  { edge: 1536, gpu: 'L40S' },
] as const;
const ROWS = 60;
const RUN_SECONDS = 1;

const DEPLOYMENTS = deploymentsOf({
  concurrencyLimit: 12,
  runSeconds: RUN_SECONDS,
  vramGb: 8.5,
  vramGbPerMegapixel: 13,
  inputTypes: ['prompt', 'width', 'height'].map((name) => ({
    name,
    type: name === 'prompt' ? 'string' : 'int',
  })),
});

const sizeOf = (row: number) => SIZES[(row * 7) % SIZES.length] as (typeof SIZES)[number];

describe('a sheet whose rows need 12, 20 and 40 GB', () => {
  const stage = sharedStage();
  let worker: Awaited<ReturnType<Stage['worker']>>;
  beforeAll(async () => {
    await stage.cluster(DEPLOYMENTS);
    worker = await stage.worker();
  });

  const sheet = (): string => {
    const lines = Array.from({ length: ROWS }, (_, at) => {
      const { edge } = sizeOf(at + 1);
      return `portrait ${at + 1},${edge},${edge}`;
    });
    return stage.write('sheet.csv', `prompt,width,height\n${lines.join('\n')}\n`);
  };
  const command = ['run', sheet(), '-d', 'portraits', '-c', '12', '--ladder', LADDER.join(',')];
  const secondsOf = ({ runSeconds = 0, coldStartSeconds = 0 }: Run): number => runSeconds + coldStartSeconds;
  const failed = async (): Promise<readonly Run[]> =>
    (await stage.truth()).filter(({ status }) => status === 'failed');

  it('ends each row on the cheapest rung that works, although its worker is killed, and says what climbing cost', async () => {
    const plan = await stage.run(['plan', ...command.slice(1)]);
    expect([plan.code, plan.stderr]).toEqual([
      0,
      expect.stringContaining('T4 → A10G → L40S → H100: 3 size classes by width × height'),
    ]);
    const running = stage.start(command);
    await until(
      async () =>
        new Set((await stage.truth()).filter((run) => run.status === 'success').map(({ gpu }) => gpu))
          .size === 3,
      'a run has succeeded on each rung',
    );
    const climbed = (await failed()).length;
    await worker.kill('SIGKILL');
    worker = await stage.worker();
    await running.ended;
    // On a busy machine, attempts of the killed worker may be late to be resolved, which is a pause.
    await finished(stage, stage.batchFile().batch);
    const { code, stderr } = await stage.run(command);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/climbing {2}\d+ runs? below the rung that worked/),
    ]);

    for (const { row, gpu_used, gpu_asked } of stage.results()) {
      const { gpu } = sizeOf(Number(row));
      expect([row, gpu_used, gpu_asked]).toEqual([row, gpu, gpu]);
    }
    const runs = await stage.truth();
    // The batch remembers its rungs without the worker.
    expect(await failed()).toHaveLength(climbed);
    const summary = JSON.parse(readFileSync(join(stage.batch(), 'summary.json'), 'utf8')) as Summary;
    expect(summary.climbing?.runs).toBe(climbed);
    const seconds = runs.reduce((sum, run) => sum + secondsOf(run), 0);
    const oracle = runs
      .filter(({ status }) => status === 'success')
      .reduce((sum, run) => sum + secondsOf(run), 0);
    expect(runs).toHaveLength(ROWS + climbed);
    expect(seconds / oracle).toBeLessThanOrEqual(1.15);
    expect(summary.climbing?.seconds).toBeCloseTo(seconds - oracle, 1);
  });

  it('is whole: verify adds up, and the same command finds the batch', async () => {
    const { batch } = stage.batchFile();
    const verified = await stage.run(['verify', batch]);
    expect([verified.code, verified.stdout + verified.stderr]).toEqual([
      0,
      expect.stringContaining('runs below the rung that worked'),
    ]);
    const again = await stage.run(command);
    expect(again.code).toBe(0);
    expect(stage.batchFile().batch).toBe(batch);
  });

  it('sends a row again where its class is, or on a GPU that the user names', async () => {
    const { batch } = stage.batchFile();
    const row = String(
      Array.from({ length: ROWS }, (_, at) => at + 1).find((number) => sizeOf(number).gpu === 'L40S'),
    );
    const retry = ['retry', batch, '--outcome', 'succeeded', '--row', row, '--yes'];
    const shown = async () =>
      JSON.parse((await stage.run(['show', batch, row, '-o', 'json'])).stdout) as RowRecord;
    const before = (await shown()).attempts.length;
    expect((await stage.run(retry)).code).toBe(0);
    expect((await shown()).attempts.slice(before)).toMatchObject([{ gpu_asked: 'L40S', gpu_used: 'L40S' }]);
    expect((await stage.run([...retry, '--gpu', 'H100'])).code).toBe(0);
    expect((await shown()).gpu_asked).toBe('H100');
    expect((await shown()).attempts.at(-1)).toMatchObject({ gpu_used: 'H100' });
    expect((await stage.run(['verify', batch])).code).toBe(0);
  });

  it('answers a request on the same ladder or for the GPU on which a row ended, and no other', async () => {
    const wanted = async (...flags: readonly string[]): Promise<number> => {
      const { stdout, stderr } = await stage.run([
        'plan',
        sheet(),
        '-d',
        'portraits',
        ...flags,
        '-o',
        'json',
      ]);
      const { earlier } = JSON.parse(stdout || stderr) as {
        earlier: { same: string | null; done: readonly { rows: number }[] };
      };
      return earlier.same === null ? earlier.done.reduce((sum, { rows }) => sum + rows, 0) : ROWS;
    };
    expect(await wanted('--ladder', LADDER.join(','))).toBe(ROWS);
    expect(await wanted('--ladder', 'T4,A10G,H100')).toBe(0);
    expect(await wanted('--gpu', 'A10G')).toBe(ROWS / SIZES.length);
    expect(await wanted('--gpu', 'A100')).toBe(0);
  });

  it('is refused if its ladder names a GPU twice, a wrong one, or if --gpu is given as well', async () => {
    const refused = async (...flags: readonly string[]): Promise<string> => {
      const { code, stderr } = await stage.run(['plan', sheet(), '-d', 'portraits', ...flags]);
      expect(code).not.toBe(0);
      return stderr;
    };
    expect(await refused('--ladder', 'T4,A10')).toMatch(/E201[^]*did you mean A10G/);
    expect(await refused('--ladder', 'T4,T4')).toContain('names T4 twice');
    expect(await refused('--ladder', 'T4,H100', '--gpu', 'T4')).toContain('exclude each other');
    expect(await refused('--ladder', 'T4')).toContain('--gpu T4');
  });
});
