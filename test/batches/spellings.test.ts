// The same sheet for the same service, whose address is written in another way: no row is bought again.

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { BATCH_FILE } from '../../src/store/batch-file.ts';
import { openBatchFolder } from '../../src/store/batch-folders.ts';
import { findUnchanged } from '../../src/batches/reuse/reuse.ts';
import { create, ASKED } from './create.ts';
import { Place } from './creating.ts';

const BASE = 'https://gpu.example/api';
const SPELLINGS: readonly string[] = [
  'HTTPS://GPU.Example/api',
  'https://gpu.example:443/x/../api',
  'https://gpu.example/api/',
];
const at = (base: string, more: object = {}) => ({
  ...ASKED.service,
  rehearsal: false,
  prices: {},
  base,
  ...more,
});

let place: Place;

/** A batch as an older release made it, which hashed the address as it was set. */
async function madeBefore(base: string): Promise<CreatedBatch> {
  const made = await place.create('sheet.csv', { service: at(base) });
  const identity = [made.laidOut?.content, ASKED.deployment.id, base];
  const content = createHash('sha256').update(JSON.stringify(identity)).digest('hex');
  writeFileSync(join(made.folder, BATCH_FILE), JSON.stringify({ ...made.file, content }));
  return made;
}

beforeEach(() => {
  place = new Place();
  place.write('sheet.csv', 'prompt\none\ntwo\n');
  place.write('more.csv', 'prompt\none\ntwo\nthree\n');
});

describe('a batch that was made under another spelling of the address', () => {
  const pairs = [
    ...SPELLINGS.map((before) => ({ before, now: BASE })),
    { before: 'http://localhost:1/api', now: 'http://[::1]:1/api' },
  ];

  it.each(pairs)('is found again: $before is $now', async ({ before, now }) => {
    const earlier = await madeBefore(before);
    const params = { service: at(now), answers: {} };
    const again = await place.create('sheet.csv', params);
    expect([again.batch, again.laidOut]).toEqual([earlier.batch, undefined]);
    await expect(place.create('more.csv', params)).rejects.toMatchObject({ code: 'E531' });
    const named = await place.create('sheet.csv', { ...params, name: earlier.batch });
    expect(named.laidOut).toBeUndefined();
  });

  it.each(SPELLINGS)('is found by the bytes of its sheet, before the service is asked (%s)', async (base) => {
    const { batch, file } = await madeBefore(base);
    const copy = { ...file.sheet, folder: '', format: 'csv' as const };
    const options = { map: {}, set: {}, drop: [], types: {} };
    const unchanged = await findUnchanged(place.out, { copy, options, base: BASE }, ASKED.deployment.id);
    expect(unchanged?.batch).toBe(batch);
  });

  it('is found in another folder', async () => {
    const places = join(place.folder, 'places');
    const elsewhere = join(place.folder, 'elsewhere');
    const path = join(place.folder, 'sheet.csv');
    await create(path, elsewhere, { places, service: at('http://localhost:1/api') });
    const params = { places, service: at('http://127.0.0.1:1/api'), answers: {} };
    await expect(place.create('sheet.csv', params)).rejects.toMatchObject({ code: 'E539' });
  });
});

describe('a service that names itself', () => {
  it('is one service at its second address', async () => {
    const places = join(place.folder, 'places');
    const params = { places, service: at('https://gpu.example/api', { id: 'of-the-test' }), answers: {} };
    const made = await place.create('sheet.csv', params);
    expect((await openBatchFolder(place.out, made.batch))?.file.service.id).toBe('of-the-test');
    const moved = { ...params, service: at('https://new.example/api', { id: 'of-the-test' }) };
    expect((await place.create('sheet.csv', moved)).laidOut).toBeUndefined();
    const path = join(place.folder, 'sheet.csv');
    await expect(create(path, join(place.folder, 'other'), moved)).rejects.toMatchObject({ code: 'E539' });
    const movedService = { ...params, service: at('https://new.example/api', { id: 'another' }) };
    expect((await place.create('sheet.csv', movedService)).laidOut).toBeDefined();
  });
});
