// The parser of CSV gives the same records wherever a sheet is cut into pieces.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CsvParser, type CsvRecord } from '../../src/sheet/csv/csv-parser.ts';
import { cpuMs } from '../stage/cpu.ts';

function recordsOf(pieces: readonly string[]): readonly CsvRecord[] {
  const parser = new CsvParser({ delimiter: ',', quoting: 'loose' });
  return [...pieces.flatMap((piece) => [...parser.take(piece)]), ...parser.end()];
}

it('gives the same records with their lines for every cut', () => {
  const field = fc.string({ unit: fc.constantFrom('a', '"', '\n', ',', ' '), maxLength: 4 });
  const enclosed = field.map((text) => `"${text.replaceAll('"', '""')}"`);
  const row = fc.array(fc.oneof(enclosed, fc.constant('x')), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 4 }), fc.integer({ min: 1, max: 3 }), (rows, size) => {
      const text = rows.map((fields) => `${fields.join(',')}\n`).join('');
      const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
        text.slice(at * size, (at + 1) * size),
      );
      expect(recordsOf(pieces)).toEqual(recordsOf([text]));
    }),
  );
});

const BYTES = 3.9 * 2 ** 20;

it.each([
  ['one field of quotes', `a,b\n1,"${'""'.repeat(BYTES / 2)}"\n`],
  ['one row of fields in quotes', `${'"a",'.repeat(BYTES / 4)}\n`],
  ['one row of fields with quotes behind them', `${'"a"b,'.repeat(BYTES / 5)}\n`],
  ['quotes in each line and no delimiter', 'a"b\n'.repeat(BYTES / 4)],
])('reads %s in a time that grows with their number, not with its square', (_what, text) => {
  const pieces = Array.from({ length: Math.ceil(text.length / 4_096) }, (_, at) =>
    text.slice(at * 4_096, (at + 1) * 4_096),
  );
  const startMs = cpuMs();
  expect(recordsOf(pieces).length).toBeGreaterThan(0);
  expect(cpuMs() - startMs).toBeLessThan(4_000);
});
