// A program makes, follows and reads batches without the command line.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  AlreadyDoneError,
  BatchPausedError,
  connect,
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

    const again = await runsheet.start(portraits(), options).catch((error: unknown) => error);
    expect(again).toBeInstanceOf(AlreadyDoneError);
    expect(again).toMatchObject({ batchId: batch.batchId, rows: ROWS });
    const kept = await runsheet.start(portraits(), { ...options, reuse: 'reuse' });
    expect(kept.batchId).toBe(batch.batchId);
    expect((await Array.fromAsync(runsheet.list())).map(({ state }) => state)).toEqual(['finished']);
    expect(isRunsheetError(await batch.pause().catch((error: unknown) => error), 'E513')).toBe(true);
  });
});
