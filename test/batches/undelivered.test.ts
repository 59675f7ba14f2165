// Rows whose runs were paid for in another batch, although their files were not delivered: they count as bought.

import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { partName } from '../../src/results/parts.ts';
import { SUMMARY_FILE } from '../../src/store/batch-file.ts';
import { summaryOfPass } from '../results/summary-of-pass.ts';
import { create, ASKED } from './create.ts';
import { Place } from './creating.ts';
import { addResults } from './earlier.ts';
import { carriedOut, withFurther } from './further.ts';

const MISSING = {
  outcome: 'failed',
  reason: 'outputs_missing: 403',
  attempts: [{ attempt: 1, outcome: 'succeeded', run_id: 'paid', gpu_used: 'L4', cost_usd: 2 }],
  files: [],
} as const;
const REAL = { ...ASKED.service, base: 'https://gpu.example', rehearsal: false };
const ASKS = { answers: {}, service: REAL };

let place: Place;
let batch: CreatedBatch;
beforeEach(async () => {
  place = new Place();
  place.write('first.csv', 'prompt\none\ntwo\nthree\n');
  place.write('more.csv', 'prompt\none\ntwo\nthree\nfour\n');
  batch = await place.create('first.csv', { service: REAL, name: 'first' });
  await addResults(batch, { rows: [1, 2] });
  const lost = { row: 3, ...MISSING };
  await batch.store.write(partName(1, 2), `${JSON.stringify(lost)}\n`);
});

const HINT = 'runsheet retry first --fetch';

describe('rows that were paid for and not delivered', () => {
  it('are not bought by another sheet without a question, which says how they are fetched', async () => {
    const refused = place.create('more.csv', ASKS);
    await expect(refused).rejects.toMatchObject({
      code: 'E546',
      message: expect.stringContaining('1 row (3) was paid for in first'),
      hint: expect.stringContaining(HINT),
    });
    const reusing = { ...ASKS, answers: { earlier: 'reuse' as const } };
    await expect(place.create('more.csv', reusing)).rejects.toMatchObject({ code: 'E546' });
    const again = { ...ASKS, answers: { earlier: 'reuse', undelivered: 'again' } as const };
    expect((await place.create('more.csv', again)).file.sheet).toMatchObject({ rows: 4, reused: 2 });
  });

  it('are reused once their files were fetched', async () => {
    const [text = ''] = (await batch.store.read(partName(1, 1)))?.split('\n').slice(1) ?? [];
    await batch.store.write(partName(1, 3), `${text.replace('{"row":2', '{"row":3')}\n`);
    const { file } = await place.create('more.csv', { ...ASKS, answers: { earlier: 'reuse' } });
    expect(file.sheet).toMatchObject({ rows: 4, reused: 3 });
  });

  it('are not bought in another folder without a question', async () => {
    const places = join(place.folder, 'places');
    const params = { ...ASKS, places };
    await create(place.write('again.csv', 'prompt\nfive\n'), place.out, params).then(async (made) => {
      await made.store.write(partName(1, 1), `${JSON.stringify({ row: 1, ...MISSING })}\n`);
      await made.store.write(SUMMARY_FILE, summaryOfPass(1, 0));
    });
    const elsewhere = create(join(place.folder, 'again.csv'), join(place.folder, 'other'), params);
    await expect(elsewhere).rejects.toMatchObject({ code: 'E539' });
  });

  it('are not bought by rows that are added to a batch without a question', async () => {
    place.write('base.csv', 'prompt\nbase\n');
    const base = await place.create('base.csv', { service: REAL });
    const further = { batch: base, name: 'further.csv', text: 'prompt\nbase\nthree\n' };
    await expect(withFurther(place, further, carriedOut)).rejects.toMatchObject({ code: 'E549' });
  });

  it('are bought if their sheet asks for another GPU or other inputs', async () => {
    place.write('other.csv', 'prompt\nthree!\n');
    expect((await place.create('other.csv', ASKS)).laidOut).toBeDefined();
  });
});
