// Commands that make a batch while the disk is slow, hangs, or loses an answer, and while another command makes one with the same rows.

import fs from 'node:fs';
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { saidIfSlow, type LongComparison } from '../../src/batches/long-comparison.ts';
import { MADE } from '../../src/batches/batch-log.ts';
import { BATCH_FILE } from '../../src/store/batch-file.ts';
import { lostLink, leapingClocks, replaceCall } from '../stage/faulty-disk.ts';
import { filesBelow, Place, wholeBatch } from './creating.ts';
import { addResults } from './earlier.ts';
import { NewBatch } from '../../src/batches/new-batch.ts';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { withCopy } from '../../src/batches/copy-sheet.ts';
import { ASKED } from './create.ts';
import { carriedOut, withFurther } from './further.ts';
import { newestPass } from '../../src/store/passes.ts';
import { Readable } from 'node:stream';

const ASKS = { answers: {} };
const STALL_MS = 45_000;

let place: Place;
beforeEach(() => {
  place = new Place();
  place.write('one.csv', 'prompt\nx1\nx2\nx3\n');
  place.write('two.csv', 'prompt\nx2\nx3\nx4\n');
});

/** The first creation of this file hangs until it is released. */
function stalledAt(name: string) {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let isFirst = true;
  replaceCall('link', (real) => async (from, to) => {
    if (String(to).endsWith(`/${name}`) && isFirst) {
      isFirst = false;
      reached.resolve();
      await released.promise;
    }
    return real(from, to);
  });
  return { reached: reached.promise, release: () => released.resolve() };
}

/** The code of the error with which a command is refused. */
const codeOf = (command: Promise<unknown>): Promise<string | undefined> =>
  command.then(
    () => undefined,
    (error: { readonly code?: string }) => error.code,
  );

describe('a command that stood still before it created its file', () => {
  const said: LongComparison[] = [];
  beforeEach(() => void (said.length = 0));

  /** Another command makes a batch with some of the rows. */
  const made = (): Promise<CreatedBatch> =>
    place.create('two.csv', { ...ASKS, onComparing: (why) => void said.push(why) });

  it('makes no batch of rows that another command has taken meanwhile', async () => {
    const stalled = stalledAt(`${MADE}/000001.json`);
    const refused = codeOf(place.create('one.csv', ASKS));
    await stalled.reached;
    const { batch, laidOut } = await made();
    expect([laidOut === undefined, said]).toEqual([false, []]);
    stalled.release();
    expect(await refused).toBe('E531');
    expect(place.names()).toEqual([batch]);
  });

  it('adds no rows that another command has taken meanwhile', async () => {
    place.write('base.csv', 'prompt\nx0\n');
    const base = await place.create('base.csv');
    const stalled = stalledAt(`${MADE}/000002.json`);
    const further = { batch: base, name: 'more.csv', text: 'prompt\nx0\nx2\n' };
    const refused = codeOf(withFurther(place, further, carriedOut));
    await stalled.reached;
    expect((await made()).laidOut).toBeDefined();
    stalled.release();
    expect(await refused).toBe('E549');
    expect(await newestPass(base.store)).toBe(1);
  });

  it('has made its batch if only batch.json is missing, which the next command writes', async () => {
    const stalled = stalledAt(BATCH_FILE);
    const creating = place.create('one.csv', ASKS);
    await stalled.reached;
    expect(await codeOf(made())).toBe('E531');
    const [name = ''] = place.names();
    expect(existsSync(join(place.out, name, BATCH_FILE))).toBe(true);
    stalled.release();
    const { batch, file, folder } = await creating;
    expect([batch, place.names()]).toEqual([name, [name]]);
    expect(filesBelow(folder)).toEqual(wholeBatch(file));
  });

  it('has added its rows if only the file of the pass is missing, which the next command writes', async () => {
    place.write('base.csv', 'prompt\nx0\n');
    const base = await place.create('base.csv');
    const stalled = stalledAt('passes/00002.json');
    const further = { batch: base, name: 'more.csv', text: 'prompt\nx0\nx2\n' };
    const added = withFurther(place, further, carriedOut);
    await stalled.reached;
    expect(await codeOf(made())).toBe('E531');
    expect(await newestPass(base.store)).toBe(2);
    stalled.release();
    expect(await added).toMatchObject({ pass: 2, appended: 1 });
  });

  it('makes its batch if nobody has taken its rows', async () => {
    const clocks = leapingClocks();
    replaceCall('link', (real) => async (from, to) => {
      if (String(to).endsWith(`/${BATCH_FILE}`)) clocks.leap(STALL_MS);
      return real(from, to);
    });
    const { batch, file, laidOut } = await place.create('one.csv', ASKS);
    expect(laidOut).toBeDefined();
    expect(filesBelow(join(place.out, batch))).toEqual(wholeBatch(file));
  });
});

it('a comparison on a slow disk ends with a batch', async () => {
  const clocks = leapingClocks();
  let listings = 0;
  place.write('other.csv', 'prompt\nx7\n');
  await place.create('other.csv');
  replaceCall(
    'readdir',
    (real) =>
      (async (...given: Parameters<typeof real>) => {
        if (given[0] === place.out) {
          clocks.leap(16_000);
          listings += 1;
          if (listings > 6) throw new Error('compares for ever');
        }
        return real(...given);
      }) as typeof real,
  );
  const { laidOut } = await place.create('one.csv', ASKS);
  expect([laidOut === undefined, listings <= 3]).toEqual([false, true]);
});

it('a batch whose batch.json was created although the answer was lost keeps its layout', async () => {
  lostLink(`/${BATCH_FILE}`);
  const { batch, file, laidOut } = await place.create('one.csv');
  expect(laidOut).toBeDefined();
  expect(filesBelow(join(place.out, batch))).toEqual(wholeBatch(file));
});

describe('a proposal that is repeated', () => {
  /** How often the copy of the sheet was opened since the last call. */
  function countOpens(): () => number {
    const real = fs.createReadStream;
    let opens = 0;
    const install = (open: typeof real): void => {
      fs.createReadStream = open;
      syncBuiltinESMExports();
    };
    install((...given) => {
      opens += Number(String(given[0]).endsWith('/sheet.csv'));
      return real(...given);
    });
    onTestFinished(() => install(real));
    return () => {
      const counted = opens;
      opens = 0;
      return counted;
    };
  }

  const proposing = <T>(settings: object, use: (proposed: NewBatch) => Promise<T>): Promise<T> =>
    withCopy(join(place.folder, 'two.csv'), { out: place.out, stdin: Readable.from([]) }, async (copy) => {
      const params = { ...ASKED, ...ASKS, settings: { ...ASKED.settings, ...settings } };
      using proposed = await NewBatch.of({ ...params, copy, out: place.out });
      return await use(proposed);
    });

  it.each([
    ['', {}],
    [' with a canary', { canary: { rows: 1, asks: false } }],
  ])('does not read its sheet again%s', async (_how, settings) => {
    await addResults(await place.create('one.csv'));
    await proposing(settings, async (proposed) => {
      const opens = countOpens();
      await proposed.answer({ earlier: 'reuse' });
      expect(proposed.draft?.file.sheet).toMatchObject({ rows: 3, reused: 2 });
      await proposed.answer({ earlier: 'again' });
      expect(proposed.draft?.file.sheet.reused).toBeUndefined();
      await proposed.answer({ earlier: 'reuse' }, true);
      expect(opens()).toBe(0);
      await proposed.answer({ ...ASKED.answers }, true);
      const { file, folder } = await proposed.carryOut();
      expect(filesBelow(folder)).toEqual(wholeBatch(file));
    });
  });
});

describe('a command that fails between its layout and batch.json', () => {
  it('leaves nothing in the place of the batches', async () => {
    const call = new AbortController();
    replaceCall('rename', (real) => async (from, to) => {
      if (String(to).includes('/layout/')) call.abort(new Error('enough'));
      return real(from, to);
    });
    await expect(place.create('one.csv', { signal: call.signal })).rejects.toThrow('enough');
    expect(place.names()).toEqual([]);
  });

  it('keeps a batch that exists although its creation seemed to fail', async () => {
    replaceCall('link', (real) => async (from, to) => {
      await real(from, to);
      if (String(to).endsWith(`/${BATCH_FILE}`)) throw Object.assign(new Error('stale'), { code: 'ESTALE' });
    });
    const { batch, file } = await place.create('one.csv');
    expect(existsSync(join(place.out, batch, BATCH_FILE))).toBe(true);
    expect(filesBelow(join(place.out, batch))).toEqual(wholeBatch(file));
  });
});

it('a comparison that takes more than a few seconds says so, and a short one says nothing', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const said: LongComparison[] = [];
  const comparing = (ms: number) =>
    saidIfSlow(
      (why) => said.push(why),
      () => new Promise((done) => void setTimeout(done, ms)),
    );
  const short = comparing(2_000);
  await vi.advanceTimersByTimeAsync(60_000);
  await short;
  expect(said).toEqual([]);
  const long = comparing(20_000);
  await vi.advanceTimersByTimeAsync(60_000);
  await long;
  expect(said).toEqual(['slow']);
});
