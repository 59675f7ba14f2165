// Batch folders to compare, with real pictures. `node test/results/compare/compared-scene.ts <folder> <rows>` writes two to look at.

import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeEndedBatch } from '../../../bench/ended-batch.ts';
import { parseExactly } from '../../../src/host/formats/exact-json.ts';
import { hashOf, numbersFrom } from '../../../src/run-service/chance.ts';
import {
  inksFrom,
  paintMosaic,
  encodePng,
} from '../../../src/run-service/executors/rehearsal/pictures/pictures.ts';
import type { FileRecord, PartRecord } from '../../../src/results/row-record.ts';
import type { SheetRow } from '../../../src/sheet/pages.ts';

type Changed = {
  readonly rows: number;
  readonly hasKeys?: boolean;
  readonly row?: (row: SheetRow) => SheetRow;
  readonly record?: (record: PartRecord) => PartRecord;
};

/** An ended batch whose rows and records are changed. */
export function writeBatch(out: string, name: string, changed: Changed): void {
  const { rows, hasKeys = true, row = (sheetRow) => sheetRow, record = (sheetRow) => sheetRow } = changed;
  const folder = join(out, name);
  mkdirSync(folder, { recursive: true });
  const file = makeEndedBatch(folder, { rows });
  if (hasKeys) {
    const options = { ...file.sheet.options, keyColumn: 'number' };
    writeFileSync(join(folder, 'batch.json'), JSON.stringify({ ...file, sheet: { ...file.sheet, options } }));
  }
  changeLines(join(folder, 'layout', file.mark, 'rows'), row);
  changeLines(join(folder, 'parts'), record);
}

function changeLines<T>(folder: string, change: (one: T) => T): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
    writeFileSync(path, lines.map((line) => `${JSON.stringify(change(parseExactly(line) as T))}\n`).join(''));
  }
}

/** The record with another run. */
export const onGpu = (record: PartRecord, gpu: string, seconds: number, cost: number): PartRecord => ({
  ...record,
  attempts: record.attempts.map((attempt) => ({
    ...attempt,
    gpu_used: gpu,
    run_seconds: seconds,
    cost_usd: cost,
  })),
});

const SHAPES = [
  [512, 512],
  [384, 576],
  [640, 400],
] as const;

/** A picture; those of the same `number` and `inks` are the same. */
function picture(folder: string, number: number, inks: number): FileRecord {
  const [width, height] = SHAPES[number % SHAPES.length] ?? SHAPES[0];
  const bitmap = { width, height, pixels: new Uint8Array(width * height) };
  const tiles = { columns: 4, rows: Math.ceil((4 * height) / width) };
  paintMosaic(bitmap, tiles, numbersFrom(hashOf(`pair ${number}`)));
  const palette = inksFrom(numbersFrom(hashOf(`inks ${number} ${inks}`)));
  const bytes = encodePng(bitmap, Uint8Array.from(palette.flat()), '');
  const path = `outputs/${number}.png`;
  mkdirSync(join(folder, 'outputs'), { recursive: true });
  writeFileSync(join(folder, path), bytes);
  return { path, bytes: bytes.length, sha256: hash('sha256', bytes), name: `${number}.png` };
}

export const HOSTILE = '<img src=x onerror="document.title=1"></script>';

/** Two batches of the same rows on L4 and H100: each fifth pair is identical, others differ in an input, an outcome, or the picture. */
export function writeTwoBatches(out: string, rows: number): void {
  const key = (row: SheetRow): SheetRow => ({ ...row, key: row.row === 3 ? HOSTILE : `SKU-${row.key}` });
  const draw = numbersFrom(hashOf('seconds'));
  writeBatch(out, 'slow', {
    rows,
    row: key,
    record: (record) => ({
      ...onGpu(record, 'L4', 9 + draw() * 4, 0.003),
      files: record.files.map(() => picture(join(out, 'slow'), record.row, 0)),
    }),
  });
  writeBatch(out, 'fast', {
    rows: rows + 2,
    row: (row) => ({
      ...key(row),
      ...(row.row % 4 === 0 ? { inputs: { ...row.inputs, seed: 7, steps: HOSTILE } } : {}),
    }),
    record: (record) => ({
      ...onGpu(record, 'H100', 3 + draw(), 0.0042),
      ...(record.row === 7 ? { outcome: 'failed', reason: HOSTILE } : {}),
      files:
        record.row === 7
          ? []
          : record.files.map(() => picture(join(out, 'fast'), record.row, record.row % 5)),
    }),
  });
}

const [, script, folder, rows] = process.argv;
if (script === import.meta.filename && folder !== undefined) writeTwoBatches(folder, Number(rows ?? 60));
