import { cpSync, mkdirSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { QuestionsOpen } from '../../../src/batches/questions.ts';
import { SheetRefused } from '../../../src/sheet/sheet-refused.ts';
import { placeIn } from '../../../src/batch/state/lanes.ts';
import type { Answers } from '../../../src/batches/questions.ts';
import { proposeRetry } from '../../../src/library/handle/retried-rows.ts';
import type { Servers } from '../../../src/library/servers.ts';
import { cacheRows, sheetRows, readBatchSheet } from '../../../src/sheet/placed-rows.ts';
import { readPass } from '../../../src/store/passes.ts';
import { contentAt, openScene, photosOf, picture } from './scene.ts';
import { Place } from '../creating.ts';
import { addResults } from '../earlier.ts';
import { deploymentSpecSchema } from '../../../src/run-service/service-deployments.ts';
import { openBatchFolder, type BatchFolder } from '../../../src/store/batch-folders.ts';
import { carriedOut, withFurther } from '../further.ts';
import { layoutOf } from '../../../src/store/batch-file.ts';
import type { CreatedBatch } from '../../../src/batches/make-batch.ts';

describe('a picture beside the sheet', () => {
  it('is uploaded once for its content, and every row has its address', async () => {
    const { place, make, told } = await openScene();
    const paths = ['a.png', 'p/b.png', './p/b.png', 'p/copy of a.png', String.raw`p\b.png`];
    for (const name of ['a.png', 'p/copy of a.png']) place.write(name, picture(1));
    const b = place.write('p/b.png', picture(2));
    const spellings = [...paths, b, pathToFileURL(b).href];
    place.write('sheet.csv', `photo\n${spellings.join('\n')}\n`);
    const made = await make('sheet.csv');
    const photos = await photosOf(made);
    expect(new Set(photos).size).toBe(2);
    expect(await Promise.all(photos.map(contentAt))).toEqual(
      [1, 2, 2, 1, 2, 2, 2].map((colour) => picture(colour)),
    );
    expect(told.at(-1)).toMatchObject({ files: 2, done: 2 });
    expect(made.file.sheet.files).toEqual({ count: 2, folder: place.folder });
  });

  it('is sent instead of a file of the server that has the same name, which the workflow names by default', async () => {
    const finals = { name: 'finals', inputTypes: [{ name: 'photo', type: 'image', default: 'example.png' }] };
    const { place, make, proposed } = await openScene({ deployments: [deploymentSpecSchema.parse(finals)] });
    place.write('example.png', picture(1));
    place.write('sheet.csv', 'photo\nexample.png\n');
    const [photo = ''] = await photosOf(await make('sheet.csv'));
    expect(await contentAt(photo)).toEqual(picture(1));
    const texts = () =>
      proposed('sheet.csv', { around: { isPlan: true } }, async ({ draft }) =>
        draft?.laidOut.guesses?.map(({ text, sure }) => [sure, text]),
      );
    expect(await texts()).toBeUndefined();
    rmSync(join(place.folder, 'example.png'));
    const otherBatch = await make('sheet.csv');
    expect(await photosOf(otherBatch)).toEqual(['example.png']);
    expect(await texts()).toEqual([
      ['said', 'column "photo": no file of this machine is called example.png, so the server\'s own is sent'],
    ]);
    place.write('example.png', 'no picture');
    await expect(make('sheet.csv')).rejects.toMatchObject({ problems: [{ code: 'E210' }] });
  });

  it('is found whether its name and the cell compose umlauts or not', async () => {
    const { place, make } = await openScene();
    const composed = 'Bär.png'.normalize('NFC');
    place.write(`p/${composed}`, picture(1));
    place.write(`${'Öl'.normalize('NFD')}.png`, picture(2));
    place.write('sheet.csv', `photo\np/${composed.normalize('NFD')}\n${'Öl'.normalize('NFC')}.png\n`);
    const photos = await photosOf(await make('sheet.csv'));
    expect(await Promise.all(photos.map(contentAt))).toEqual([picture(1), picture(2)]);
  });

  it('is the first of several in a cell, or each of them with --split', async () => {
    const { place, make } = await openScene();
    for (const at of [1, 2]) place.write(`${at}.png`, picture(at));
    place.write('sheet.csv', 'photo,prompt\n"1.png, 2.png",a\n');
    const options = { map: { photo: 'photo.0' }, set: {}, drop: [], types: {} };
    const photos = await photosOf(await make('sheet.csv', { more: { options } }));
    expect(await Promise.all(photos.map(contentAt))).toEqual([picture(1)]);
    place.write('split.csv', 'photo,prompt\n"1.png, 2.png",b\n');
    const split = { ...options, map: {}, split: ['photo'] };
    expect((await make('split.csv', { more: { options: split } })).file.sheet.rows).toBe(2);
  });

  it('is counted by a plan, which uploads nothing', async () => {
    const { place, proposed, told, uploads, make } = await openScene();
    place.write('a.png', picture(1));
    place.write('b.png', picture(2));
    place.write('one.csv', 'photo\na.png\n');
    place.write('two.csv', 'photo\na.png\nb.png\n');
    await make('one.csv');
    expect(uploads()).toBe(1);
    told.length = 0;
    const bytes = picture(2).length;
    const unchanged = await proposed(
      'two.csv',
      { around: { isPlan: true } },
      async ({ draft }) => draft?.laidOut.files,
    );
    expect(unchanged).toEqual({
      files: 2,
      bytes: bytes + picture(1).length,
      toUpload: { files: 1, bytes },
      outside: { files: 0, bytes: 0, first: [] },
    });
    expect(told).toEqual([]);
  });

  it('makes the batch: another name of the file or of its folder does not, another content does', async () => {
    const { place, make } = await openScene();
    place.write('a.png', picture(1));
    place.write('sheet.csv', 'photo\na.png\n');
    const first = await make('sheet.csv');
    expect(await make('sheet.csv')).toMatchObject({ batch: first.batch, laidOut: undefined });
    place.write('other/b.png', picture(1));
    place.write('other/sheet.csv', 'photo\nb.png\n');
    expect(await make('other/sheet.csv')).toMatchObject({ batch: first.batch, laidOut: undefined });
    place.write('a.png', picture(2));
    const second = await make('sheet.csv');
    expect([second.batch === first.batch, second.laidOut?.rows]).toEqual([false, 1]);
  });

  it('lets rows that were bought be found, before anything is uploaded', async () => {
    const { place, make, uploads, told } = await openScene();
    place.write('a.png', picture(1));
    place.write('b.png', picture(2));
    place.write('sheet.csv', 'photo\na.png\n');
    await addResults(await make('sheet.csv'));
    // The address is another one, as after a move to another machine.
    rmSync(join(place.out, '.uploads.sqlite'));
    told.length = 0;
    place.write('more.csv', 'photo\nb.png\na.png\n');
    const refused = await make('more.csv').then(undefined, (error: unknown) => error);
    expect(refused).toBeInstanceOf(QuestionsOpen);
    expect((refused as QuestionsOpen).questions).toMatchObject([{ id: 'earlier', done: [{ first: [2] }] }]);
    expect(uploads()).toBe(0);
    const reused = await make('more.csv', { more: { answers: { earlier: 'reuse' } } });
    expect(reused.file.sheet.reused).toBe(1);
  });

  it('is not uploaded again after a command that was interrupted', async () => {
    const { place, make, told } = await openScene();
    const names = Array.from({ length: 40 }, (_, at) => `${at}.png`);
    for (const [at, name] of names.entries()) place.write(name, picture(at));
    place.write('sheet.csv', `photo\n${names.join('\n')}\n`);
    const aborting = new AbortController();
    const around = {
      signal: aborting.signal,
      onUploading: ({ done }: { readonly done: number }) => (done === 10 ? aborting.abort() : undefined),
    };
    await expect(make('sheet.csv', { around })).rejects.toMatchObject({ name: 'AbortError' });
    expect(place.hasBatch()).toBe(false);
    await make('sheet.csv');
    expect(told[0]?.files).toBeLessThanOrEqual(30);
  });

  it('is uploaded for a template of --set, and may be missing in a cell that is empty', async () => {
    const { place, make } = await openScene();
    place.write('p/S-1.png', picture(1));
    place.write('sheet.csv', 'sku\nS-1\n');
    const options = { map: {}, set: { photo: 'p/{sku}.png' }, drop: [], types: {} };
    const [photo = ''] = await photosOf(await make('sheet.csv', { more: { options } }));
    expect(await contentAt(photo)).toEqual(picture(1));
  });

  it('is looked for without the words for nothing in a template', async () => {
    const { place, make } = await openScene();
    place.write('p/x.png', picture(1));
    place.write('sheet.csv', 'sku,prompt\nn/a,a fox\n');
    const options = { map: {}, set: { photo: 'p/x{sku}.png' }, drop: [], types: {}, null: ['n/a'] };
    const [photo = ''] = await photosOf(await make('sheet.csv', { more: { options } }));
    expect(await contentAt(photo)).toEqual(picture(1));
  });

  it('that changes while it is uploaded is refused', async () => {
    const { place, proposed } = await openScene();
    place.write('a.png', picture(1));
    place.write('sheet.csv', 'photo\na.png\n');
    const carried = proposed('sheet.csv', {}, async (proposal) => {
      place.write('a.png', picture(2));
      return proposal.carryOut();
    });
    await expect(carried).rejects.toMatchObject({ code: 'E107' });
  });
});

describe('a picture of a further sheet', () => {
  const inputTypes = [{ name: 'photo', type: 'image', required: true }];
  const key = { options: { map: {}, set: {}, drop: [], types: {}, keyColumn: 'sku' } };
  const HOUR_MS = 3_600_000;

  const further = (
    { place, around }: Awaited<ReturnType<typeof openScene>>,
    batch: CreatedBatch,
    name: string,
    text: string,
  ) =>
    withFurther(
      place,
      { batch, name, text, declared: { inputTypes }, config: around.config },
      async (rows) => {
        const { appended = 0, changed = 0 } =
          ((await carriedOut(rows)) as Partial<Record<string, number>>) ?? {};
        return { appended, changed };
      },
    );

  it('is uploaded with the row, and is found from the results of the batch as from its sheet', async () => {
    const scene = await openScene();
    const { place, make, uploads } = scene;
    for (const at of [1, 2, 3]) place.write(`p/${at}.png`, picture(at));
    place.write('sheet.csv', 'sku,photo\na,p/1.png\nb,p/2.png\n');
    const batch = await make('sheet.csv', { more: key });
    await addResults(batch, { rows: [1] });
    await addResults(batch, { rows: [2], outcome: 'failed' });
    // The file is in another folder.
    const text = 'sku,photo\na,p/1.png\nb,p/2.png\nc,p/3.png\n';
    expect(await further(scene, batch, 'elsewhere/results.csv', text)).toEqual({ appended: 1, changed: 0 });
    expect(uploads()).toBe(2);
    const { ranges, rows } = await readBatchSheet(batch.store, batch.file);
    const photos: string[] = [];
    for await (const { row } of sheetRows(layoutOf(batch.store, batch.file), { ranges, rows }, 3, rows))
      photos.push(String(row.inputs['photo']));
    expect(await Promise.all(photos.map(contentAt))).toEqual([picture(3)]);
  });

  it('that has changed changes its row, and a row whose address has expired is sent with another one', async () => {
    const scene = await openScene({ keepFilesMs: 2 * HOUR_MS });
    const { place, make } = scene;
    for (const at of [1, 2]) place.write(`${at}.png`, picture(at));
    const text = 'sku,photo\na,1.png\nb,2.png\n';
    place.write('sheet.csv', text);
    const settings = { deadlines: {}, webhooks: false, deadlineAt: Date.now() + HOUR_MS };
    const batch = await make('sheet.csv', { more: { ...key, settings } });
    await addResults(batch, { outcome: 'cancelled' });
    expect(await further(scene, batch, 'sheet.csv', text)).toEqual({ appended: 0, changed: 0 });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * HOUR_MS });
    onTestFinished(() => void vi.useRealTimers());
    const later = { ...batch, file: { ...batch.file, deadlineAt: Date.now() + HOUR_MS } };
    expect(await further(scene, later, 'sheet.csv', text)).toEqual({ appended: 0, changed: 2 });
  });

  it('of a batch that moved to another machine is sent with a new address, and what was bought stays', async () => {
    const scene = await openScene({ keepFilesMs: 2 * HOUR_MS });
    const { place, make } = scene;
    const text = 'sku,photo\na,1.png\nb,2.png\n';
    for (const at of [1, 2]) place.write(`${at}.png`, picture(at));
    place.write('sheet.csv', text);
    const settings = { deadlines: {}, webhooks: false, deadlineAt: Date.now() + HOUR_MS };
    const { batch: name } = await make('sheet.csv', { more: { ...key, settings } });
    const moved = new Place();
    cpSync(place.folder, moved.folder, { recursive: true });
    rmSync(place.folder, { recursive: true });
    const batch = (await openBatchFolder(moved.out, name)) as BatchFolder;
    await addResults({ ...batch, laidOut: undefined }, { rows: [1], isOver: false });
    const first = await batch.store.read('parts/0001-000001.jsonl');
    await addResults({ ...batch, laidOut: undefined }, { rows: [2], outcome: 'cancelled' });
    await batch.store.write(
      'parts/0001-000001.jsonl',
      `${first}${await batch.store.read('parts/0001-000001.jsonl')}`,
    );
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3 * HOUR_MS });
    onTestFinished(() => void vi.useRealTimers());
    const later = {
      ...batch,
      laidOut: undefined,
      file: { ...batch.file, deadlineAt: Date.now() + HOUR_MS },
    };
    const config = { ...scene.around.config, out: moved.out, home: moved.folder };
    const movedScene = { ...scene, place: moved, around: { ...scene.around, config } };
    expect(await further(movedScene, later, 'sheet.csv', text)).toEqual({ appended: 0, changed: 1 });
    const { segments } = await readPass(batch.store, 2);
    const places = segments.map(({ lane, first: at }) => placeIn(lane, at));
    const rows = await cacheRows(4)(layoutOf(batch.store, batch.file), batch.file.sheet, places);
    const [row] = rows.values();
    expect([row?.key, await contentAt(String(row?.inputs['photo']))]).toEqual(['b', picture(2)]);
  });

  it.each([13, 24])('whose address is good for %d hours is sent with it', async (hours) => {
    const { place, make, told } = await openScene({ keepFilesMs: hours * HOUR_MS });
    place.write('1.png', picture(1));
    place.write('sheet.csv', 'photo\n1.png\n');
    const [photo = ''] = await photosOf(await make('sheet.csv'));
    expect(await contentAt(photo)).toEqual(picture(1));
    expect(told.at(-1)).toMatchObject({ done: 1 });
  });

  it('whose address would end before the batch is refused, with the deadline that fits', async () => {
    const { place, make } = await openScene({ keepFilesMs: 2 * HOUR_MS });
    place.write('1.png', picture(1));
    place.write('sheet.csv', 'photo\n1.png\n');
    await expect(make('sheet.csv')).rejects.toMatchObject({
      code: 'E554',
      hint: expect.stringMatching(/--deadline 11\dm/) as string,
    });
  });
});

it('a picture of this machine can be given to rows that are sent again, and is uploaded with the answer', async () => {
  const { place, around, make, uploads, told } = await openScene();
  place.write('s/1.png', picture(1));
  place.write('s/2.png', picture(2));
  place.write('s/sheet.csv', 'photo\n1.png\n');
  const batch = await make('s/sheet.csv');
  await addResults(batch);
  told.length = 0;
  const servers = {
    config: around.config,
    around: () => around,
    forRehearsal: async () => {},
    refuseElsewhere: async () => {},
    for: async () => ({}),
  } as unknown as Servers;
  const retried = (photo: string, answers: Answers) =>
    proposeRetry(servers, batch, { filter: { outcome: ['succeeded'] }, set: { photo }, answers });
  await expect(retried('3.png', {})).rejects.toMatchObject({
    code: 'E602',
    message: expect.stringContaining('there is no') as string,
  });
  using open = await retried('2.png', {});
  await expect(open.carryOut()).rejects.toBeInstanceOf(QuestionsOpen);
  expect(uploads()).toBe(0);
  using proposal = await retried('2.png', { boughtBefore: 'again' });
  expect((await proposal.carryOut())?.rows).toBe(1);
  const { segments } = await readPass(batch.store, 2);
  const places = segments.map(({ lane, first }) => placeIn(lane, first));
  const rows = await cacheRows(4)(layoutOf(batch.store, batch.file), batch.file.sheet, places);
  const [row] = rows.values();
  expect(await contentAt(String(row?.inputs['photo']))).toEqual(picture(2));
});

it('a picture that is data of a batch is an input of the next one, from the folder of its sheet', async () => {
  const { place, make } = await openScene();
  const plain = { map: {}, set: {}, types: {} };
  place.write('shop/p/1.png', picture(1));
  place.write('shop/sheet.csv', 'sku,photo,thumb\na,https://gpu.example/a.png,p/1.png\n');
  const first = await make('shop/sheet.csv', { more: { options: { ...plain, drop: ['thumb'] } } });
  expect(first.file.sheet.files).toEqual({ count: 0, folder: join(place.folder, 'shop') });
  expect(await make('shop/sheet.csv', { more: { options: { ...plain, drop: ['thumb'] } } })).toMatchObject({
    batch: first.batch,
  });
  await addResults(first);
  const options = { ...plain, map: { photo: 'thumb' }, drop: [] };
  const [photo = ''] = await photosOf(await make('', { from: first, more: { options } }));
  expect(await contentAt(photo)).toEqual(picture(1));
});

describe('a cell without a file', () => {
  type Folder = Awaited<ReturnType<typeof openScene>>['place'];
  const refusals: [string, string, string, ((place: Folder) => void)?][] = [
    ['is misspelt', 'fix.png', 'did you mean', (place) => place.write('fox.png', picture(1))],
    ['is a folder', 'p', 'is no file', (place) => mkdirSync(join(place.folder, 'p'))],
    ['is empty', 'a.png', 'is empty', (place) => place.write('a.png', '')],
    ['is a text', 'a.png', 'no image: the file is text', (place) => place.write('a.png', 'a fox\n')],
    ['is a page', 'a.jpg', 'is HTML', (place) => place.write('a.jpg', '<html><body>404</body></html>')],
    ['is no known picture', 'a.png', 'unknown bytes', (place) => place.write('a.png', Buffer.alloc(99, 200))],
    [
      'is too large',
      'a.png',
      'the run service takes',
      (place) => truncateSync(place.write('a.png', picture(1)), 251 * 2 ** 20),
    ],
    ['is on another machine', String.raw`C:\pictures\a.png`, 'a path of another machine'],
    ['is a placeholder', 'see below', 'neither an address nor a file'],
  ];
  it.each(refusals)('that %s is refused', async (_, cell, words, arrange) => {
    const { place, make, uploads } = await openScene();
    arrange?.(place);
    place.write('sheet.csv', `prompt,photo\na,${cell}\n`);
    const refused = await make('sheet.csv').then(undefined, (error: unknown) => error);
    expect(refused).toBeInstanceOf(SheetRefused);
    const [problem] = (refused as SheetRefused).problems;
    expect([problem?.code, problem?.place?.line, problem?.place?.column]).toEqual(['E210', 2, 2]);
    expect(`${problem?.message} ${problem?.hint}`).toContain(words);
    expect(uploads()).toBe(0);
  });

  it('of a sheet that was downloaded, or outside of what a worker may read, is refused, whether it exists or not', async () => {
    const { place, make } = await openScene();
    place.write('secret.png', picture(1));
    mkdirSync(join(place.folder, 'sheets'));
    symlinkSync(join(place.folder, 'secret.png'), join(place.folder, 'sheets/link.png'));
    place.write('sheets/sheet.csv', 'photo\n../secret.png\nlink.png\n../none.png\n');
    const reasons = async (options: object): Promise<readonly string[]> => {
      const refused = await make('sheets/sheet.csv', options).then(undefined, (error: unknown) => error);
      return (refused as SheetRefused).problems.map(({ message }) => message.replace(/^.* is /, ''));
    };
    expect(new Set(await reasons({ isRemote: true }))).toEqual(
      new Set([
        'not an address, and neither a sheet that was downloaded nor rows of a program name files of this machine',
      ]),
    );
    const within = { out: place.out, sheets: [join(place.folder, 'sheets')] };
    expect(new Set(await reasons({ within }))).toEqual(
      new Set(['not an address, and not a file that this worker may read']),
    );
  });
});
