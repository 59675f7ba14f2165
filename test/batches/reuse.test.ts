// Rows of a new batch that earlier batches in the same folder have.

import { existsSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import type { Overlap } from '../../src/batches/reuse/matched-rows.ts';
import { placeReused } from '../../src/batches/reuse/reuse-rows.ts';
import { recordsOf } from '../../src/results/batch-rows.ts';
import { deploymentSchema } from '../../src/service-client/contract/deployment.ts';
import { LAYOUT, SUMMARY_FILE } from '../../src/store/batch-file.ts';
import { summaryOfPass } from '../results/summary-of-pass.ts';
import { ASKED, type CreationParams, Place } from './creating.ts';
import { addResults } from './earlier.ts';
import { sendAgain } from './further.ts';
import { recordsIn, sentIn } from './rows-of-batch.ts';

const ID = ASKED.deployment.id;
const deployment = (more: object) => ({ deployment: deploymentSchema.parse({ id: ID, ...more }) });

let place: Place;
beforeEach(() => {
  place = new Place();
  place.write('three.csv', 'prompt\na\nb\nc\n');
  place.write('four.csv', 'prompt\na\nb\nc\nd\n');
});

type Found = Pick<Overlap, 'done' | 'open' | 'unknown'> & { readonly made: CreatedBatch };

const TWICE = { boughtBefore: 'again' } as const;

/** Makes a batch that reuses what it can, as it is when it starts. */
async function reusing(name: string, params: CreationParams = {}): Promise<Found> {
  let sharedRows: Omit<Found, 'made'> = { done: [], open: [], unknown: [] };
  const decide: CreationParams['decide'] = async ({ done, open, unknown }) => {
    sharedRows = { done, open, unknown };
    return 'reuse' as const;
  };
  const made = await place.create(name, { ...params, decide });
  await placeReused(made);
  return { ...sharedRows, made };
}

describe('a row that succeeded in an earlier batch', () => {
  it('has its files under the names of the new batch', async () => {
    await addResults(await place.create('three.csv'));
    const settings = { ...ASKED.settings, outputName: '{prompt}_{row}' };
    const { made } = await reusing('four.csv', { settings });
    const [first] = await recordsIn(made);
    expect(first?.files).toMatchObject([{ path: 'outputs/a_1.png' }]);
    expect(existsSync(join(made.folder, 'outputs/a_1.png'))).toBe(true);
  });

  it('keeps its result, with files of its own, and has no place', async () => {
    const earlier = await place.create('three.csv');
    await addResults(earlier, { more: { texts: ['a caption'] } });
    const { made, done, open } = await reusing('four.csv');
    expect([done, open]).toEqual([
      [{ batch: earlier.batch, rows: 3, first: [1, 2, 3], isVersionSure: false }],
      [],
    ]);
    expect(made.file.sheet).toMatchObject({ rows: 4, reused: 3, lanes: [{ places: 1 }] });
    expect(await sentIn(made, 0)).toEqual([4]);
    rmSync(earlier.folder, { recursive: true });
    const [, second, , fourth] = await recordsIn(made);
    expect(second).toMatchObject({
      row: 2,
      outcome: 'succeeded',
      attempts: [],
      texts: ['a caption'],
      reused_from: `${earlier.batch}#2`,
      files: [{ name: 'a.bin', node: '9' }],
    });
    const path = second?.files[0]?.path ?? '';
    expect(readFileSync(join(made.folder, path), 'utf8')).toBe(`${earlier.batch} 2`);
    expect(fourth).toBeUndefined();
    const placed = [];
    for await (const record of recordsOf(made.store)) placed.push(record);
    expect(placed).toEqual([]);
  });

  it('is not bought again without a question if its outcome is unknown, because its run may exist', async () => {
    const earlier = await place.create('three.csv');
    await addResults(earlier, { rows: [2], outcome: 'unknown' });
    const { made, unknown } = await reusing('four.csv');
    expect(unknown).toEqual([{ batch: earlier.batch, rows: 1, first: [2], isVersionSure: false }]);
    expect(await sentIn(made, 0)).toEqual([1, 2, 3, 4]);
  });

  it('also answers a sheet without a GPU if it was asked for on the GPU of the deployment', async () => {
    const earlier = await place.create('three.csv', deployment({ gpu: 'T4' }));
    await addResults(earlier, { more: { gpu_asked: 'T4' } });
    const { done } = await reusing('four.csv', deployment({ gpu: 'T4' }));
    expect(done.map(({ rows }) => rows)).toEqual([3]);
  });

  it('shares the disk space of its files with the earlier batch', async () => {
    await addResults(await place.create('three.csv'));
    const { made } = await reusing('four.csv');
    const [first] = await recordsIn(made);
    expect(statSync(join(made.folder, first?.files[0]?.path ?? '')).nlink).toBe(2);
  });

  it('is named by the batch that bought it, also if another batch reused it meanwhile', async () => {
    const earlier = await place.create('three.csv');
    await addResults(earlier);
    const { made } = await reusing('four.csv');
    rmSync(earlier.folder, { recursive: true });
    place.write('two.csv', 'prompt\nb\nnew\n');
    const next = await reusing('two.csv');
    expect(next.done).toMatchObject([{ batch: made.batch, rows: 1 }]);
    expect((await recordsIn(next.made))[0]).toMatchObject({
      reason: `reused from ${earlier.batch}#2`,
      reused_from: `${earlier.batch}#2`,
    });
  });

  it('is known by the inputs with which it was sent again', async () => {
    const earlier = await place.create('three.csv');
    await addResults(earlier, { rows: [1, 3], isOver: false });
    const change = { set: { prompt: 'd' } };
    await sendAgain(earlier, { by: 'me', isWanted: ({ row }) => row === 1, change, answers: TWICE });
    const again = { row: 1, place: 5_001, outcome: 'succeeded', change, attempts: [], files: [] };
    await earlier.store.write('parts/0001-000002.jsonl', `${JSON.stringify(again)}\n`);
    await earlier.store.write(SUMMARY_FILE, summaryOfPass(2));
    const { done, open } = await reusing('four.csv');
    expect([done, open]).toMatchObject([[{ first: [3, 4] }], []]);
  });

  it('is used once, so that a sheet that repeats it gets another result', async () => {
    await addResults(await place.create('three.csv'));
    await reusing('four.csv');
    place.write('same.csv', 'prompt\na\na\na\n');
    const { made, done } = await reusing('same.csv', { options: { ...ASKED.options, unique: false } });
    expect([done.map(({ rows }) => rows), made.file.sheet.reused]).toEqual([[1], 1]);
  });

  it('leaves the sending order of the other rows as it is, and drops a lane without rows', async () => {
    place.write('some.csv', 'prompt,gpu,n\nb,H100,2\nc,A10G,3\nf,L4,6\n');
    place.write(
      'all.csv',
      'prompt,gpu,n\na,A10G,1\nb,H100,2\nc,A10G,3\nd,A10G,4\ne,H100,5\nf,L4,6\ng,H100,7\n',
    );
    await addResults(await place.create('some.csv'));
    const { made } = await reusing('all.csv', { order: { priority: 'n' } });
    expect(made.file.sheet.lanes).toEqual([
      { gpu: 'A10G', places: 2 },
      { gpu: 'H100', places: 2 },
    ]);
    expect([await sentIn(made, 0), await sentIn(made, 1)]).toEqual([
      [4, 1],
      [7, 5],
    ]);
    expect(made.laidOut?.gpus).toEqual({ A10G: 2, H100: 2 });
    expect(existsSync(join(made.folder, LAYOUT, made.file.mark, 'queue', '02'))).toBe(false);
  });

  it('leaves a batch without any place if there are no other rows', async () => {
    await addResults(await place.create('four.csv'));
    const { made } = await reusing('three.csv');
    expect(made.file.sheet).toMatchObject({ rows: 3, reused: 3, lanes: [] });
  });

  it('is found among more rows than a page, a part and a file of the queue have', async () => {
    const line = (_: unknown, at: number): string => `row ${at}`;
    place.write('many.csv', `prompt\n${Array.from({ length: 12_000 }, line).join('\n')}\n`);
    place.write('few.csv', `prompt\n${Array.from({ length: 950 }, line).join('\n')}\n`);
    await addResults(await place.create('few.csv'), { more: { files: [] } });
    const { made } = await reusing('many.csv');
    expect(made.file.sheet).toMatchObject({ reused: 950, lanes: [{ places: 11_050 }] });
    const sent = await sentIn(made, 0);
    expect([sent[0], sent[5_000], sent.at(-1)]).toEqual([951, 5_951, 12_000]);
    expect((await recordsIn(made)).filter((record) => record !== undefined)).toHaveLength(950);
  });
});

describe('no row is reused', () => {
  const reused = async (params?: CreationParams): Promise<number> => {
    const { made } = await reusing('four.csv', params);
    return made.file.sheet.reused ?? 0;
  };

  it.each<[string, CreationParams, Parameters<typeof addResults>[1], CreationParams]>([
    [
      'of another version',
      deployment({ workflow_version_id: 'v1' }),
      {},
      deployment({ workflow_version_id: 'v2' }),
    ],
    ['of another deployment', {}, {}, deployment({ id: '1d2ab3c4-5e6f-4a7b-8c9d-0e1f2a3b4c5d' })],
    ['of another service', {}, {}, { service: { ...ASKED.service, base: 'https://runs.example/api' } }],
    ['that was sent on another GPU than the sheet asked for', {}, { more: { gpu_asked: 'H100' } }, {}],
    ['that did not succeed', {}, { outcome: 'failed' }, {}],
  ])('%s', async (_, before, results, now) => {
    await addResults(await place.create('three.csv', before), results);
    expect(await reused(now)).toBe(0);
  });

  it('that ran on another GPU, by its own wish or by that of the deployment', async () => {
    await addResults(await place.create('three.csv', deployment({ gpu: 'A10G' })));
    expect(await reused(deployment({ gpu: 'H100' }))).toBe(0);
    const { options } = ASKED;
    expect(await reused({ ...deployment({ gpu: 'H100' }), options: { ...options, gpu: 'A10G' } })).toBe(3);
  });

  it('whose files are gone, cut off or outside of the batch', async () => {
    const earlier = await place.create('three.csv');
    await addResults(earlier);
    rmSync(join(earlier.folder, 'outputs/of-1/1.png'));
    truncateSync(join(earlier.folder, 'outputs/of-2/1.png'), 3);
    expect(await reused()).toBe(1);
    rmSync(earlier.folder, { recursive: true });
    const file = { path: 'outputs/../batch.json', bytes: 0, sha256: '', name: '' };
    const otherBatch = await place.create('three.csv');
    await addResults(otherBatch, {
      more: { files: [{ ...file, bytes: statSync(join(otherBatch.folder, 'batch.json')).size }] },
    });
    place.write('four.csv', 'prompt\na\nb\nc\nanother\n');
    expect((await reusing('four.csv')).done.filter(({ batch }) => batch === otherBatch.batch)).toEqual([]);
  });

  it('of a batch with a missing page', async () => {
    const earlier = await place.create('three.csv');
    await addResults(earlier);
    rmSync(join(earlier.folder, LAYOUT, earlier.file.mark, 'rows'), { recursive: true });
    expect(await reused()).toBe(0);
  });

  it('of a batch with unreadable results: rows must not be bought again unnoticed', async () => {
    const earlier = await place.create('three.csv');
    await addResults(earlier);
    await earlier.store.write(SUMMARY_FILE, 'no JSON');
    await expect(reusing('four.csv')).rejects.toMatchObject({ code: 'E504' });
    expect(place.names()).toEqual([earlier.batch]);
  });

  it('if the user wants all rows to run', async () => {
    await addResults(await place.create('three.csv'));
    const made = await place.create('four.csv', { decide: async () => 'again' });
    expect([made.file.sheet.reused, made.file.sheet.lanes]).toEqual([undefined, [{ places: 4 }]]);
  });
});

describe('the versions of the deployment', () => {
  it('are sure only if both batches know them', async () => {
    const knownVersion = deployment({ workflow_version_id: 'v1' });
    await addResults(await place.create('three.csv', knownVersion));
    expect((await reusing('four.csv', knownVersion)).done).toMatchObject([{ isVersionSure: true }]);
    place.write('two.csv', 'prompt\na\nb\n');
    expect((await reusing('two.csv')).done).toMatchObject([{ isVersionSure: false }]);
  });
});

describe('a row that is open in an earlier batch', () => {
  it('is named, unless another batch has it done', async () => {
    const stopped = await place.create('three.csv');
    await addResults(stopped, { rows: [2], isOver: false });
    const running = await place.create('three.csv', { again: true });
    place.write('b.csv', 'prompt\na\n');
    const ended = await place.create('b.csv');
    await addResults(ended);
    const { done, open } = await reusing('four.csv');
    expect(Object.fromEntries(done.map(({ batch, first }) => [batch, first]))).toEqual({
      [stopped.batch]: [2],
      [ended.batch]: [1],
    });
    expect(open).toMatchObject([{ batch: running.batch, rows: 1, first: [3] }]);
  });

  it('is also one that an ended batch sends again', async () => {
    const earlier = await place.create('three.csv');
    await addResults(earlier);
    await sendAgain(earlier, { by: 'me', isWanted: ({ row }) => row === 2, answers: TWICE });
    const { done, open } = await reusing('four.csv');
    expect([done, open]).toMatchObject([[{ first: [1, 3] }], [{ batch: earlier.batch, first: [2] }]]);
  });

  it('is known by the inputs with which it is sent again', async () => {
    const earlier = await place.create('three.csv');
    await addResults(earlier);
    await sendAgain(earlier, {
      by: 'me',
      isWanted: ({ row }) => row === 2,
      answers: TWICE,
      change: { set: { prompt: 'd' } },
    });
    const { done, open } = await reusing('four.csv');
    expect([done, open]).toMatchObject([[{ first: [1, 3] }], [{ batch: earlier.batch, first: [4] }]]);
  });

  it('does not count if its batch has ended without sending it', async () => {
    await addResults(await place.create('three.csv'), { rows: [1] });
    const { done, open } = await reusing('four.csv');
    expect([done.map(({ rows }) => rows), open]).toEqual([[1], []]);
  });
});

describe('a row that is done with another address of its file', () => {
  const sheet = (version: string, keys = ['fox', 'owl']): string =>
    [
      'id,prompt,image',
      ...keys.map((key) => `${key},a photo,https://cdn.example/${version}/${key}.png?v=${version}`),
    ]
      .map((line) => `${line}\n`)
      .join('');
  const KEYED = { options: { ...ASKED.options, keyColumn: 'id' } };
  const moved = (params: CreationParams = {}) =>
    place.create('next.csv', { ...KEYED, ...params, answers: { earlier: 'reuse', ...params.answers } });

  beforeEach(async () => {
    place.write('first.csv', sheet('1'));
    await addResults(await place.create('first.csv', KEYED));
    place.write('next.csv', sheet('2', ['new', 'owl', 'fox']));
  });

  it('is asked about, and neither bought nor reused before the answer', async () => {
    await expect(moved()).rejects.toMatchObject({
      code: 'E558',
      message: expect.stringContaining('2 of 3 rows are done in first-'),
      hint: expect.stringContaining("movedFiles: 'keep'"),
    });
  });

  it('keeps the result of its key if its user says so', async () => {
    const kept = await moved({ answers: { moved: 'keep' } });
    await placeReused(kept);
    expect(kept.file.sheet).toMatchObject({ rows: 3, reused: 2 });
    expect((await recordsIn(kept)).map((record) => record?.reused_from?.replace(/.*#/, '#'))).toEqual([
      undefined,
      '#2',
      '#1',
    ]);
  });

  it('is bought again if its user says so', async () => {
    const again = await moved({ answers: { moved: 'again' } });
    expect(await sentIn(again, 0)).toEqual([1, 2, 3]);
  });

  it('is another product without a key, unless only the end of its address differs', async () => {
    place.write('unnamed.csv', 'prompt,image\na photo,https://cdn.example/3/fox.png\n');
    const unnamed = await place.create('unnamed.csv', { answers: { earlier: 'reuse' } });
    expect(unnamed.file.sheet.reused).toBeUndefined();
    place.write('version.csv', 'prompt,image\na photo,https://cdn.example/1/fox.png?v=9\n');
    await expect(place.create('version.csv', { answers: {} })).rejects.toMatchObject({ code: 'E558' });
  });

  it('is another request with another prompt, and no question if every row is the same', async () => {
    place.write('next.csv', sheet('2').replaceAll('a photo', 'a drawing'));
    expect((await moved()).file.sheet.reused).toBeUndefined();
    place.write('next.csv', `${sheet('1')}new,a photo,https://cdn.example/1/new.png?v=1\n`);
    expect((await moved({ name: 'same' })).file.sheet.reused).toBe(2);
  });
});
