// Writes the folder of a batch whose rows have all ended, as the batch itself would have: pages, queue, parts and passes. Rows end in
// the order of the sheet or in a random one, in one lane or several, and may have been sent again.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NO_OUTCOMES } from '../src/batch/outcome.ts';
import { placeIn } from '../src/batch/state/lanes.ts';
import { DEFAULT_TIMING } from '../src/batch/params.ts';
import { partName } from '../src/results/parts.ts';
import type { AttemptRecord, PartRecord } from '../src/results/row-record.ts';
import { PAGE_ROWS, pageName, pageOf, rowLine } from '../src/sheet/pages.ts';
import { QUEUE_ROWS, queueName, queuePageOf, type Queued } from '../src/sheet/placed-rows.ts';
import { LAYOUT, type BatchFile } from '../src/store/batch-file.ts';
import { passName } from '../src/store/passes.ts';

export type EndedBatch = {
  readonly rows: number;
  readonly isShuffled?: boolean;
  readonly lanes?: number;
  /** How often all its rows were sent again. */
  readonly redrives?: number;
};

const PART_ROWS = 100;
/** A stride whose multiples visit all rows of any batch in an order without pattern. */
const STRIDE = 618_033_989;
const GPUS = ['A10G', 'L4', 'T4', 'A100', 'H100', 'L40S', 'H200', 'B200'];
const PRICE = 0.0004;
const MARK = '0123456789abcdef';

/** How many rows of a batch failed: one in fifty. */
const failedIn = (rows: number): number => Math.floor(rows / 50);
const outcomeOf = (row: number) => (row % 50 === 0 ? 'failed' : 'succeeded');

export function makeEndedBatch(folder: string, batch: EndedBatch): BatchFile {
  const { rows, isShuffled = false, lanes = 1, redrives = 0 } = batch;
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const layout = (name: string, text: string): void => write(`${LAYOUT}/${MARK}/${name}`, text);
  const isQueued = isShuffled || lanes > 1;
  const order = inOrder(rows, isShuffled);
  writeSheet(layout, rows, lanes);
  const byLane = GPUS.slice(0, lanes).map((_, lane) => order.filter((row) => row % lanes === lane));
  const file = batchFileOf(batch, byLane);
  write('batch.json', JSON.stringify(file));
  let queues = byLane.map((queue) => [...queue].map((row): Queued => ({ row })));
  // The numbers of a later pass begin in a new file of the queue.
  let offsets = queues.map(() => 0);
  for (let pass = 1; pass <= redrives + 1; pass += 1) {
    const places = placesOf(queues, offsets);
    if (isQueued || pass > 1) writeQueue(layout, queues, offsets);
    if (pass > 1) write(passName(pass), passOf(queues, offsets));
    const parts = writeParts(write, pass, places, isQueued);
    offsets = queues.map((queue, lane) => nextPage((offsets[lane] ?? 0) + queue.length));
    // Rows that are sent again are in the order of the sheet.
    queues = queues.map((queue) =>
      queue.toSorted((a, b) => a.row - b.row).map(({ row }) => ({ row, before: parts[row] ?? '' })),
    );
  }
  return file;
}

const nextPage = (number: number): number => queuePageOf(number) * QUEUE_ROWS;

function inOrder(rows: number, isShuffled: boolean): Uint32Array {
  const order = new Uint32Array(rows);
  for (let at = 0; at < rows; at += 1) order[at] = (isShuffled ? (at * STRIDE) % rows : at) + 1;
  return order;
}

type Write = (name: string, text: string) => void;

function writeSheet(layout: Write, rows: number, lanes: number): void {
  let sheet = 'number,prompt,seed,gpu\n';
  const pieces: string[] = [];
  let lines = '';
  for (let row = 1; row <= rows; row += 1) {
    const gpu = lanes > 1 ? GPUS[row % lanes] : undefined;
    const prompt = `portrait number ${row} in soft light`;
    sheet += `${row},${prompt},${row * 7_919},${gpu ?? ''}\n`;
    lines += rowLine(row, String(row), gpu, `{"number":${row},"prompt":"${prompt}","seed":${row * 7_919}}`);
    if (row % PAGE_ROWS !== 0 && row < rows) continue;
    layout(pageName(pageOf(row)), lines);
    lines = '';
    pieces.push(sheet);
    sheet = '';
  }
  layout('sheet.csv', pieces.join(''));
}

type BatchPlace = { readonly place: number; readonly row: number };

/** The places of all lanes in the order in which their rows end: a lane advances as fast as the others. */
function placesOf(queues: readonly (readonly Queued[])[], offsets: readonly number[]): readonly BatchPlace[] {
  const places: BatchPlace[] = [];
  const longest = Math.max(...queues.map(({ length }) => length));
  for (let at = 0; at < longest; at += 1)
    for (const [lane, queue] of queues.entries()) {
      const row = queue[at]?.row;
      if (row !== undefined) places.push({ place: placeIn(lane, (offsets[lane] ?? 0) + at + 1), row });
    }
  return places;
}

function writeQueue(layout: Write, queues: readonly (readonly Queued[])[], offsets: readonly number[]): void {
  for (const [lane, queue] of queues.entries())
    for (let at = 0; at < queue.length; at += QUEUE_ROWS) {
      const lines = queue.slice(at, at + QUEUE_ROWS).map((row) => `${JSON.stringify(row)}\n`);
      layout(queueName(lane, queuePageOf((offsets[lane] ?? 0) + at + 1)), lines.join(''));
    }
}

function passOf(queues: readonly (readonly Queued[])[], offsets: readonly number[]): string {
  const segments = queues.flatMap((queue, lane) =>
    Array.from({ length: Math.ceil(queue.length / QUEUE_ROWS) }, (_, page) => ({
      lane,
      first: (offsets[lane] ?? 0) + page * QUEUE_ROWS + 1,
      count: Math.min(QUEUE_ROWS, queue.length - page * QUEUE_ROWS),
    })),
  );
  return JSON.stringify({ at: '2026-11-21T10:00:00.000Z', kind: 'retry', by: 'ada', segments });
}

/** The name of the part of each row. */
function writeParts(
  write: Write,
  pass: number,
  places: readonly BatchPlace[],
  isQueued: boolean,
): readonly string[] {
  const partOf: string[] = [];
  for (let at = 0; at < places.length; at += PART_ROWS) {
    const name = partName(pass, at / PART_ROWS + 1);
    let text = '';
    for (const place of places.slice(at, at + PART_ROWS)) {
      partOf[place.row] = name.slice(name.indexOf('/') + 1);
      text += `${JSON.stringify(recordOf(place, pass, isQueued))}\n`;
    }
    write(name, text);
  }
  return partOf;
}

function recordOf({ place, row }: BatchPlace, pass: number, isQueued: boolean): PartRecord {
  const attempts = Array.from({ length: pass }, (_, at) => attemptOf(row, at + 1));
  const outcome = outcomeOf(row);
  return {
    row,
    ...(isQueued || pass > 1 ? { place } : {}),
    outcome,
    ...(pass > 1 ? { before: { outcome, attempts: pass - 1 } } : {}),
    attempts,
    files:
      outcome === 'failed'
        ? []
        : [{ path: `outputs/${row}.png`, bytes: 1_000, sha256: 'ab'.repeat(32), name: 'one.png', node: '9' }],
  };
}

/** Run ids have no order, like those of a service. */
const attemptOf = (row: number, attempt: number): AttemptRecord => ({
  attempt,
  outcome: outcomeOf(row),
  run_id: runIdOf(row, attempt),
  gpu_used: 'L4',
  created_at: '2026-11-21T10:00:00.000Z',
  ended_at: '2026-11-21T10:00:05.000Z',
  queue_seconds: 1,
  cold_start_seconds: 1,
  run_seconds: 3,
  cost_usd: 4 * PRICE,
});

function runIdOf(row: number, attempt: number): string {
  const hex = (BigInt(row * 64 + attempt) * 0x9e37_79b9_7f4a_7c15n).toString(16).padStart(24, '0').slice(-24);
  return `${hex.slice(-8)}-${hex.slice(8, 12)}-4000-8000-${hex.slice(0, 12)}`;
}

/** The workflow's counts: outcomes, and one run for each attempt. */
export const countsOf = ({ rows, redrives = 0 }: EndedBatch) => {
  const runs = rows * (redrives + 1);
  return {
    outcomes: { ...NO_OUTCOMES, succeeded: rows - failedIn(rows), failed: failedIn(rows) },
    gpus: { L4: { runs, seconds: runs * 4, costUsd: runs * 4 * PRICE } },
    runs,
  };
};

function batchFileOf({ rows, isShuffled = false, lanes = 1 }: EndedBatch, byLane: readonly Uint32Array[]) {
  return {
    format: 2,
    batch: 'b',
    mark: MARK,
    content: 'ab',
    createdAt: '2026-11-21T10:00:00.000Z',
    sheet: {
      name: 'sheet.csv',
      file: 'sheet.csv',
      sha256: 'ab',
      bytes: 1,
      options: { format: 'csv', map: {}, set: {}, drop: [], types: {} },
      columns: ['number', 'prompt', 'seed', 'gpu'],
      inputs: ['number', 'prompt', 'seed'].map((input) => ({
        input,
        kind: 'string',
        from: { column: input },
      })),
      rows,
      pages: pageOf(rows),
      repeats: 0,
      lanes: byLane.map(({ length }, at) => ({ ...(lanes > 1 ? { gpu: GPUS[at] } : {}), places: length })),
      isQueued: isShuffled || lanes > 1,
    },
    deployment: { id: '00000000-0000-4000-8000-000000000001', workflowId: 'w', gpu: 'L4' },
    service: { base: 'local', api: 'v2', rehearsal: true, timing: DEFAULT_TIMING, prices: { L4: PRICE } },
    concurrency: 100,
    retries: 2,
    unconfirmed: { rule: 'unknown', afterMs: 0 },
    deadlines: {},
    webhooks: false,
    seed: 1,
  } as BatchFile;
}
