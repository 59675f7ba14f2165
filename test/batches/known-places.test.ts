import { renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { rememberPlace } from '../../src/batches/known-places.ts';
import { create, ASKED } from './create.ts';
import { Place } from './creating.ts';
import { carriedOut, withFurther } from './further.ts';
import type { Config } from '../../src/host/settings/config.ts';

const REAL = { ...ASKED.service, base: 'https://gpu.example', rehearsal: false };

let place: Place;
beforeEach(() => (place = new Place()));

/** Makes a batch in a folder of its own, without an answer. */
const made = (name: string, folder: string, more: object = {}) =>
  create(join(place.folder, name), join(place.folder, folder), {
    service: REAL,
    answers: {},
    places: join(place.folder, 'places'),
    ...more,
  });

describe('rows that a batch in another folder has', () => {
  beforeEach(() => {
    place.write('three.csv', 'prompt\na\nb\nc\n');
    place.write('four.csv', 'prompt\na\nb\nc\nd\n');
  });

  it('are not bought again without a question, whether all of them are the same or some', async () => {
    const first = await made('three.csv', 'here');
    await expect(made('three.csv', 'there')).rejects.toMatchObject({
      code: 'E539',
      exit: 2,
      message: `3 of 3 rows are in another folder: ${first.batch} in ${join(place.folder, 'here')}`,
    });
    await expect(made('four.csv', 'there')).rejects.toMatchObject({
      message: `3 of 4 rows are in another folder: ${first.batch} in ${join(place.folder, 'here')}`,
    });
    const again = await made('four.csv', 'there', { answers: { elsewhere: 'again' } });
    expect(again.laidOut?.rows).toBe(4);
    // Two places of the same rows count once.
    await expect(made('three.csv', 'nowhere')).rejects.toMatchObject({
      message: expect.stringMatching(/^3 of 3 rows are in another folder/) as string,
    });
  });

  it('are not added to another batch without a question', async () => {
    const first = await made('three.csv', 'here');
    place.write('other.csv', 'prompt\ne\n');
    const batch = await made('other.csv', 'there');
    const config = {
      out: join(place.folder, 'there'),
      home: place.folder,
      places: join(place.folder, 'places'),
    };
    const furtherSheet = { batch, name: 'four.csv', text: 'prompt\na\nb\nc\nd\n', config: config as Config };
    await expect(withFurther(place, furtherSheet, carriedOut)).rejects.toMatchObject({
      code: 'E549',
      message: expect.stringContaining(
        `3 succeeded or may have a run that was paid for in ${first.folder}`,
      ) as string,
    });
    const answers = { boughtBefore: 'again' } as const;
    expect(await withFurther(place, { ...furtherSheet, answers }, carriedOut)).toMatchObject({ appended: 4 });
  });

  it('are forgotten with their folder, but not with a disk that is away for a while', async () => {
    const first = await made('three.csv', 'here');
    renameSync(join(place.folder, 'here'), join(place.folder, 'away'));
    const later = await made('four.csv', 'there');
    renameSync(join(place.folder, 'away'), join(place.folder, 'here'));
    rmSync(later.folder, { recursive: true });
    await expect(made('three.csv', 'third')).rejects.toMatchObject({ code: 'E539' });
    rmSync(first.folder, { recursive: true });
    expect((await made('three.csv', 'third')).laidOut?.rows).toBe(3);
  });

  it('do not matter if their folder cannot be reached', async () => {
    const first = await made('three.csv', 'here');
    for (const [at, out] of [join(first.folder, 'batch.json'), 's3://gone/batches'].entries())
      rememberPlace(join(place.folder, 'places'), {
        out,
        file: { ...first.file, mark: `00000000000000a${at}` },
      });
    vi.stubEnv('AWS_ENDPOINT_URL_S3', 'http://127.0.0.1:1');
    // With keys, it is tried again for minutes.
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, 'key');
    place.write('others.csv', 'prompt\nx\ny\n');
    expect((await made('others.csv', 'there')).laidOut?.rows).toBe(2);
    vi.unstubAllEnvs();
  });

  it('do not matter if their batch is damaged and of another deployment', async () => {
    const otherDeployment = {
      deployment: { ...ASKED.deployment, id: '00000000-0000-0000-0000-000000000001' },
    };
    place.write('others.csv', 'prompt\nx\ny\n');
    const { folder } = await made('three.csv', 'here', otherDeployment);
    place.write(join('here', basename(folder), 'passes'), 'no folder');
    expect((await made('others.csv', 'here')).laidOut?.rows).toBe(2);
  });

  it('are no question in a rehearsal, of another deployment, and for another user', async () => {
    const rehearsal = { service: { ...REAL, rehearsal: true } };
    await made('three.csv', 'here', rehearsal);
    expect((await made('three.csv', 'there', rehearsal)).laidOut?.rows).toBe(3);
    await made('three.csv', 'real');
    const otherDeployment = {
      deployment: { ...ASKED.deployment, id: '00000000-0000-0000-0000-000000000001' },
    };
    expect((await made('three.csv', 'other', otherDeployment)).laidOut?.rows).toBe(3);
    const places = join(place.folder, 'places-of-another');
    expect((await made('three.csv', 'another', { places })).laidOut?.rows).toBe(3);
  });
});
