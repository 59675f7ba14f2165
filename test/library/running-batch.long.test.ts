// A program makes, follows and reads batches without the command line.

import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AlreadyDoneError,
  BatchPausedError,
  connect,
  InputRefusedError,
  isRunsheetError,
  type RowResult,
  type Runsheet,
} from '../../src/index.ts';
import { Stage } from '../stage/stage.ts';

const SEED = 18_446_744_073_709_551_615n;
const ROWS = 12;

async function* portraits() {
  for (let number = 1; number <= ROWS; number += 1)
    yield { prompt: `portrait ${number}`, seed: SEED - BigInt(number), negative_prompt: undefined };
}

describe('a batch of a program', () => {
  const stage = new Stage();
  const place = {
    store: stage.path('batches'),
    home: stage.path('home'),
    service: 'local',
    embedded: true,
  } as const;
  let runsheet: Runsheet;
  beforeAll(async () => {
    runsheet = await connect(place);
  });
  afterAll(async () => {
    await runsheet[Symbol.asyncDispose]();
    await stage.close();
  });

  it('runs rows from an async generator, gives each row as it ends, and does not buy them twice', async () => {
    const options = { deployment: 'portraits', concurrency: 1 } as const;
    const batch = await runsheet.start(portraits(), options);
    const late = batch.result({ signal: AbortSignal.timeout(1) });
    await expect(late).rejects.toMatchObject({ name: 'TimeoutError' });
    const seen: RowResult[] = [];
    const states: string[] = [];
    for await (const row of batch.rows({ follow: true })) {
      if (seen.push(row) > 1) continue;
      states.push((await batch.status()).state);
      await batch.pause('coffee');
      states.push((await batch.status()).state);
      await expect(batch.result()).rejects.toBeInstanceOf(BatchPausedError);
      await batch.resume({ concurrency: 4 });
    }
    expect(states).toEqual(['running', 'paused']);
    expect(seen.map(({ row }) => row).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: ROWS }, (_, at) => at + 1),
    );
    expect(seen.map(({ outcome }) => outcome)).toEqual(Array.from({ length: ROWS }, () => 'succeeded'));
    for (const { row, inputs } of seen)
      expect(inputs).toEqual({ prompt: `portrait ${row}`, seed: SEED - BigInt(row) });
    const { outcomes, requests } = await batch.result();
    expect([outcomes.succeeded, requests.accepted]).toEqual([ROWS, ROWS]);

    // Another handle continues after a row, as a program that was started again.
    const later = runsheet.getHandle(batch.batchId).rows({ after: seen[3]?.cursor ?? '' });
    expect((await Array.fromAsync(later)).map(({ row }) => row)).toEqual(seen.slice(4).map(({ row }) => row));

    const [file] = seen[0]?.files ?? [];
    const content = await buffer(await batch.openFile(file?.path ?? ''));
    expect(createHash('sha256').update(content).digest('hex')).toBe(file?.sha256);
    await expect(batch.openFile('outputs/none.png')).rejects.toThrow('has no file outputs/none.png');
    expect((await batch.verify()).holds).toBe(true);
    expect((await batch.row(3)).inputs['seed']).toBe(SEED - 3n);
    expect((await Array.fromAsync(batch.logs(3))).length).toBeGreaterThan(0);
    const events = await Array.fromAsync(batch.events());
    expect(events.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['created', 'started', 'paused', 'resumed', 'finished']),
    );

    const again = await runsheet.start(portraits(), options).catch((error: unknown) => error);
    expect(again).toBeInstanceOf(AlreadyDoneError);
    expect(again).toMatchObject({ batchId: batch.batchId, rows: ROWS });
    const kept = await runsheet.start(portraits(), { ...options, reuse: 'reuse' });
    expect(kept.batchId).toBe(batch.batchId);
    expect((await Array.fromAsync(runsheet.list())).map(({ state }) => state)).toEqual(['finished']);
    expect(isRunsheetError(await batch.pause().catch((error: unknown) => error), 'E513')).toBe(true);
  });

  it('plans, appends rows, and sends rows again in the same batch', async () => {
    const options = { deployment: 'portraits', concurrency: 4, name: 'more' } as const;
    const rows = [{ prompt: 'one more' }, { prompt: 'and another' }];
    const plan = await runsheet.plan(rows, options);
    expect([plan.batchId, plan.rows, plan.requests.length]).toEqual(['more', 2, 2]);
    expect(await Array.fromAsync(runsheet.list())).toHaveLength(1);

    const batch = await runsheet.start(rows, options);
    expect((await batch.result()).rows).toBe(2);
    expect(await batch.append([{ prompt: 'the third' }, { prompt: 'one more' }])).toEqual({ rows: 1 });
    const { rows: three, outcomes } = await batch.result();
    expect([three, outcomes.succeeded]).toEqual([3, 3]);

    const bought = { outcome: ['succeeded'], rows: [2], set: { prompt: 'and a better one' } } as const;
    const refused = await batch.retry(bought).catch((error: unknown) => error);
    expect(isRunsheetError(refused, 'E549')).toBe(true);
    expect(await batch.retry({ ...bought, mayBuyTwice: true })).toEqual({ rows: 1 });
    expect((await batch.result()).runs).toBe(4);
    expect((await batch.row(2)).inputs['prompt']).toBe('and a better one');
    expect((await Array.fromAsync(batch.rows())).map(({ row }) => row).toSorted((a, b) => a - b)).toEqual([
      1, 2, 2, 3,
    ]);
  });

  it('is refused with every problem of its rows, and throws what the program throws', async () => {
    const options = { deployment: 'portraits' };
    const wrong = await runsheet
      .start(
        [
          { prompt: 'a', seed: 'no number' },
          { prompt: 'b', seed: 1 },
          { prompt: 'c', seed: 'none' },
        ],
        options,
      )
      .catch((error: unknown) => error);
    expect(wrong).toBeInstanceOf(InputRefusedError);
    const issues = await Array.fromAsync((wrong as InputRefusedError).issues);
    expect(issues.map(({ row, column }) => [row, column])).toEqual([
      [1, 'seed'],
      [3, 'seed'],
    ]);
    const broken = new Error('the database is away');
    const failing = async function* () {
      yield { prompt: 'a' };
      throw broken;
    };
    await expect(runsheet.start(failing(), options)).rejects.toBe(broken);
  });
});
