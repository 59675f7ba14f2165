import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { isRunsheetError } from '../../src/errors/error.ts';
import { givenSheet, type Row } from '../../src/library/start/program-rows.ts';

const written = (rows: Iterable<Row> | AsyncIterable<Row>): Promise<string> =>
  text(givenSheet(rows).copy.stdin);
const refusal = (row: unknown): Promise<unknown> =>
  written([{ prompt: 'fine' }, row as Row]).catch((error: unknown) => error);

describe('the rows of a program', () => {
  it('keep every digit of a bigint and leave out what is undefined', async () => {
    const rows = [{ prompt: 'a "b"\n', seed: 18_446_744_073_709_551_615n, gpu: undefined, sizes: [1, 2n] }];
    expect(await written(rows)).toBe('{"prompt":"a \\"b\\"\\n","seed":18446744073709551615,"sizes":[1,2]}\n');
  });

  it.each([
    ['NaN', { seed: Number.NaN }],
    ['an infinite number', { size: [1, Number.POSITIVE_INFINITY] }],
    ['an integer whose digits a number does not keep', { seed: 2 ** 60 }],
    ['a function', { prompt: () => 'late' }],
    ['something else than an object', 'a portrait'],
    ['an array', ['a portrait']],
  ])('are refused if one has %s, with the number of the row', async (_, row) => {
    const error = await refusal(row);
    expect(isRunsheetError(error, 'E202') && error.place?.row).toBe(2);
  });

  it('are read only as fast as they are written', async () => {
    let produced = 0;
    const rows = function* (): Generator<Row> {
      for (; produced < 100_000; produced += 1) yield { prompt: 'x'.repeat(1_000) };
    };
    const { stdin } = givenSheet(rows()).copy;
    await stdin[Symbol.asyncIterator]().next();
    expect(produced).toBeLessThan(500);
  });

  it('keep the error of the program', async () => {
    const broken = new Error('the database is away');
    const sheetSource = givenSheet(
      (function* (): Generator<Row> {
        yield { prompt: 'a' };
        throw broken;
      })(),
    );
    await expect(text(sheetSource.copy.stdin)).rejects.toThrow('the database is away');
    expect(sheetSource.failure()).toEqual({ error: broken });
  });
});
