// How the rows of a batch stand, as every command reads it before it makes or sends rows again.

import { beforeEach, describe, expect, it } from 'vitest';
import { RowsAgain } from '../../src/batches/append/add-pass.ts';
import type { CreatedBatch } from '../../src/batches/make-batch.ts';
import { readStanding } from '../../src/batches/standing-rows.ts';
import { passParams } from '../../src/library/handle/retried-rows.ts';
import { partName } from '../../src/results/parts.ts';
import { SUMMARY_FILE } from '../../src/store/batch-file.ts';
import { summaryOfPass } from '../results/summary-of-pass.ts';
import { Place } from './creating.ts';

let place: Place;
let batch: CreatedBatch;

beforeEach(async () => {
  place = new Place();
  place.write('sheet.csv', 'prompt\none\ntwo\nthree\n');
  batch = await place.create('sheet.csv');
  const failed = { row: 1, outcome: 'failed', reason: 'a node', attempts: [], files: [] };
  await batch.store.write(partName(1, 1), `${JSON.stringify(failed)}\n`);
});

/** Each row as `open`, `again` if a later pass sends it, or its outcome; without a record `never`. */
async function standing(): Promise<readonly string[]> {
  const { rows } = await readStanding(batch);
  const texts: string[] = [];
  for await (const { record, isOpen, sentAgain } of rows())
    texts.push(sentAgain ? 'again' : isOpen ? 'open' : (record?.outcome ?? 'never'));
  return texts;
}

const end = (pass: number) => batch.store.write(SUMMARY_FILE, summaryOfPass(pass));

async function sendAgain(outcome: string): Promise<number | undefined> {
  const params = passParams({ outcome: [outcome] } as never, { boughtBefore: 'again' }, undefined);
  const added = await (await RowsAgain.of(batch, params, {})).carryOut();
  return added?.rows;
}

describe('the rows of a batch', () => {
  it('are open without a record while the batch runs', async () => {
    expect(await standing()).toEqual(['failed', 'open', 'open']);
    expect(await sendAgain('cancelled')).toBeUndefined();
  });

  it('were never sent if they have no record when the batch has ended', async () => {
    await end(1);
    expect(await standing()).toEqual(['failed', 'never', 'never']);
  });

  it('are sent again from the moment on in which a pass has them', async () => {
    expect(await sendAgain('failed')).toBe(1);
    expect(await standing()).toEqual(['again', 'open', 'open']);
  });

  it('that were never sent can be sent while a later pass sends others', async () => {
    await end(1);
    expect(await sendAgain('failed')).toBe(1);
    expect(await standing()).toEqual(['again', 'never', 'never']);
    expect(await sendAgain('cancelled')).toBe(2);
    expect(await standing()).toEqual(['again', 'again', 'again']);
    expect(await sendAgain('cancelled')).toBeUndefined();
  });
});
