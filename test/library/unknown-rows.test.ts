import { describe, expect, it } from 'vitest';
import { refuseUnknownRows } from '../../src/library/handle/retried-rows.ts';
import { Place } from '../batches/creating.ts';

describe('retry', () => {
  it('refuses rows and keys that the batch does not have, with the nearest key', async () => {
    const place = new Place();
    place.write('animals.csv', 'sku,prompt\nfox,a fox\nowl,an owl\n');
    const batchFolder = await place.create('animals.csv', {
      options: { map: {}, set: {}, drop: [], types: {}, keyColumn: 'sku' },
    });
    await refuseUnknownRows(batchFolder, { rows: [{ from: 2, to: 40 }], keys: ['owl', 'fox'] });
    await expect(refuseUnknownRows(batchFolder, { rows: [{ from: 3, to: 3 }] })).rejects.toMatchObject({
      code: 'E505',
      hint: `its rows have the numbers 1 to 2; list them: runsheet rows ${batchFolder.batch}`,
    });
    await expect(refuseUnknownRows(batchFolder, { keys: ['fox', 'fix', 'bear'] })).rejects.toMatchObject({
      code: 'E557',
      message: `batch ${batchFolder.batch} has no row with the keys fix, bear`,
      hint: `did you mean fox? list its rows: runsheet rows ${batchFolder.batch}`,
    });
  });
});
