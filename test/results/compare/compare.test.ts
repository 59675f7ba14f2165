// Two batches of the same rows: which rows are pairs, what the sums say, and what the page holds.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseExactly } from '../../../src/host/formats/exact-json.ts';
import { takeS3Settings } from '../../../src/host/settings/s3-settings.ts';
import { loadConfigWith } from '../../../src/host/settings/config.ts';
import { compareBatches } from '../../../src/library/report/compared-batches.ts';
import { unmeasuredText } from '../../../src/results/compare/compared-pair.ts';
import { pairedRows } from '../../../src/results/compare/compared-rows.ts';
import { HOSTILE, onGpu, writeBatch, writeTwoBatches } from './compared-scene.ts';
import { freshFolder } from '../../stage/fresh-folder.ts';

let out = '';
beforeEach(() => {
  out = freshFolder();
});

async function* each(rows: readonly string[]): AsyncGenerator<string> {
  yield* rows;
}

describe('the rows of two batches', () => {
  const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 12 });

  it('are paired as often as both have a name, in any order, and none is lost', () =>
    fc.assert(
      fc.asyncProperty(names, names, async (a, b) => {
        const pairs = await Array.fromAsync(pairedRows(each(a), each(b), (row) => row));
        const times = (rows: readonly string[], name: string) => rows.filter((row) => row === name).length;
        for (const name of 'abcde') {
          const both = pairs.filter(
            (pair) => 'a' in pair && 'b' in pair && pair.a === name && pair.b === name,
          ).length;
          expect(both).toBe(Math.min(times(a, name), times(b, name)));
          expect(pairs.filter((pair) => 'a' in pair && pair.a === name)).toHaveLength(times(a, name));
          expect(pairs.filter((pair) => 'b' in pair && pair.b === name)).toHaveLength(times(b, name));
        }
      }),
    ));
});

describe('a comparison', () => {
  it('says how many rows succeeded in both, and that reused ones have no time of their own', async () => {
    writeBatch(out, 'bought', { rows: 30, record: (record) => onGpu(record, 'L4', 9, 0.001) });
    writeBatch(out, 'reused', {
      rows: 30,
      record: (record) => ({ ...record, attempts: [], reused_from: `bought#${record.row}` }),
    });
    const compared = await compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['bought', 'reused']);
    const { succeeded } = compared;
    expect(succeeded).toBeGreaterThan(20);
    expect(compared).toMatchObject({ measured: 0, reused: { a: 0, b: succeeded } });
    expect(unmeasuredText(compared)).toBe(
      `${succeeded} rows succeeded in both batches: ${succeeded} reused in B, without a time of their own there`,
    );
    const text = readFileSync(compared.page, 'utf8');
    expect(text).toContain('reused in B');
  });

  it('says how much faster and dearer the second batch was, over pairs that succeeded in both', async () => {
    writeBatch(out, 'slow', { rows: 60, record: (record) => onGpu(record, 'L4', 9.3, 0.001) });
    writeBatch(out, 'fast', {
      rows: 61,
      record: (record) => ({
        ...onGpu(record, 'H100', record.row === 2 ? 900 : 3, 0.0014),
        ...(record.row === 2 ? { outcome: 'timed-out', files: [] } : {}),
        files: record.files.map((file) => (record.row < 5 ? file : { ...file, sha256: `${record.row}` })),
      }),
    });
    const compared = await compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['slow', 'fast']);
    expect(compared).toMatchObject({
      by: 'key',
      pairs: 60,
      // Row 2 has another outcome, and row 50 failed in both.
      measured: 58,
      identical: 3,
      outcome_differs: 1,
      only: { a: 0, b: 1 },
      verdict: 'H100 3.1× faster, 1.4× dearer',
    });
    expect(compared.run_seconds.b).toBeCloseTo(58 * 3);
    expect(await compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['fast', 'slow'])).toMatchObject({
      verdict: 'L4 3.1× slower, 1.4× cheaper',
    });
  });

  it('pairs by inputs where a sheet has no keys, whatever the order of the columns', async () => {
    writeBatch(out, 'a', { rows: 9 });
    writeBatch(out, 'b', {
      rows: 9,
      hasKeys: false,
      row: (row) => ({
        ...row,
        key: `other ${row.row}`,
        inputs: Object.fromEntries(Object.entries(row.inputs).toReversed()),
      }),
    });
    expect(await compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['a', 'b'])).toMatchObject({
      by: 'inputs',
      pairs: 9,
      identical: 9,
    });
    await expect(
      compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['a', 'b'], { by: 'key' }),
    ).rejects.toMatchObject({
      code: 'E570',
      exit: 5,
      hint: expect.stringContaining('compare a b --by inputs') as string,
    });
  });

  it.each([
    ['not where the batches are', 's3://nightly/pages/compared.html', 'is not where the batches are'],
    ['no file', 's3://nightly', 'names no file in S3'],
  ])('writes no page to an address in S3 that is %s', async (_, file, what) => {
    takeS3Settings({
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'a-secret-of-tests',
      AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1',
    });
    for (const batch of ['a', 'b']) writeBatch(out, batch, { rows: 3 });
    await expect(
      compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['a', 'b'], { file }),
    ).rejects.toMatchObject({
      code: 'E602',
      message: expect.stringContaining(what) as string,
    });
  });

  it('tries the other pairing if the default one gives no pair, and says so', async () => {
    writeBatch(out, 'a', { rows: 9 });
    writeBatch(out, 'b', { rows: 9, row: (row) => ({ ...row, key: `other ${row.row}` }) });
    expect(await compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['a', 'b'])).toMatchObject({
      by: 'inputs',
      without_pairs: 'key',
      pairs: 9,
      only: { a: 0, b: 0 },
    });
    await expect(
      compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['a', 'b'], { by: 'key' }),
    ).rejects.toMatchObject({ code: 'E570' });
    writeBatch(out, 'c', { rows: 9, row: (row) => ({ ...row, key: `c ${row.row}`, inputs: { c: 1 } }) });
    await expect(compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['a', 'c'])).rejects.toMatchObject({
      code: 'E570',
      message: 'a and c share no row: no two rows have the same key, nor the same inputs',
    });
  });

  it('names inputs that differ, with every digit', async () => {
    writeBatch(out, 'a', { rows: 2 });
    writeBatch(out, 'b', {
      rows: 2,
      row: (row) => ({
        ...row,
        inputs: { number: row.inputs['number'], seed: parseExactly('18446744073709551615') },
      }),
    });
    // The two batches still produced the same file.
    expect(
      await compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['a', 'b'], { by: 'key' }),
    ).toMatchObject({ pairs: 2, identical: 2 });
    const [first = ''] = pairsIn(join(out, 'compare-a-b.html'));
    expect(JSON.parse(first)).toMatchObject({
      changes: [
        ['prompt', 'portrait number 1 in soft light', ''],
        ['seed', '7919', '18446744073709551615'],
      ],
    });
  });

  it('has hostile text only as data, and addresses relative to the page', async () => {
    writeTwoBatches(out, 8);
    await compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['slow', 'fast']);
    const path = join(out, 'compare-slow-fast.html');
    const html = readFileSync(path, 'utf8');
    expect(html).not.toContain('onerror');
    const pairs = pairsIn(path).join('\n');
    expect(pairs).toContain(JSON.stringify(HOSTILE).slice(1, -1));
    const [, facts = ''] = /id="data">(.*?)<\/script>/s.exec(html) ?? [];
    expect(JSON.parse(facts)).toMatchObject({ a: { base: 'slow/' }, b: { base: 'fast/' } });
    await compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['slow', 'fast'], {
      file: join(out, 'slow', 'page.html'),
    });
    expect(readFileSync(join(out, 'slow', 'page.html'), 'utf8')).toContain('"base":"../fast/"');
  });

  it('replaces an earlier comparison, but no other file, and no batch is compared with itself', async () => {
    writeTwoBatches(out, 4);
    await compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['slow', 'fast']);
    await compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['slow', 'fast']);
    const sheet = join(out, 'sheet.csv');
    writeFileSync(sheet, 'prompt\na\n');
    for (const file of [sheet, join(out, 'slow', 'batch.json'), out])
      await expect(
        compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['slow', 'fast'], { file }),
      ).rejects.toMatchObject({ code: 'E602' });
    expect(readFileSync(sheet, 'utf8')).toBe('prompt\na\n');
    await expect(
      compareBatches(loadConfigWith({ RUNSHEET_OUT: out }), ['slow', 'slow']),
    ).rejects.toMatchObject({ code: 'E602' });
  });
});

/** The lines of the pairs in a page. */
function pairsIn(path: string): readonly string[] {
  const [, data = ''] = /data-name="pairs" data-bytes="0">([^<]*)</.exec(readFileSync(path, 'utf8')) ?? [];
  return inflateRawSync(Buffer.from(data, 'base64')).toString().split('\n').filter(Boolean);
}
