// node bench/walk-rows.ts [--rows N] [--only walk]…: measures what reads all rows of an ended batch, by the order in which its rows ended. Each reader
// works in a process of its own, so that its peak memory is its own.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeEndedBatch, type EndedBatch } from './ended-batch.ts';
import { READERS, type Read } from './row-readers.ts';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '200000' },
    only: { type: 'string', multiple: true },
    order: { type: 'string', multiple: true },
  },
});
const rows = Number(values.rows);

const ORDERS: Readonly<Record<string, EndedBatch>> = {
  'in order': { rows },
  shuffled: { rows, isShuffled: true },
  '7 lanes, 3 redrives': { rows, isShuffled: true, lanes: 7, redrives: 3 },
};

const wanted = Object.keys(READERS).filter((name) => values.only?.includes(name) ?? true);
console.log(
  `| ${rows.toLocaleString('en')} rows | reader | seconds | processor s | peak MB above the start |\n| --- | --- | --: | --: | --: |`,
);
for (const [order, batch] of Object.entries(ORDERS)) {
  if (!(values.order?.includes(order) ?? true)) continue;
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-bench-'));
  try {
    makeEndedBatch(folder, batch);
    for (const reader of wanted) {
      const { seconds, cpuSeconds, peakMb } = measured(reader, folder, batch);
      console.log(
        `| ${order} | ${reader} | ${seconds.toFixed(1)} | ${cpuSeconds.toFixed(1)} | ${peakMb.toFixed(0)} |`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function measured(reader: string, folder: string, batch: EndedBatch): Read {
  const program = join(import.meta.dirname, 'row-readers.ts');
  const args = [reader, folder, JSON.stringify(batch)];
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${reader} failed: ${stderr}`);
  return JSON.parse(stdout.slice(stdout.lastIndexOf('\n', stdout.length - 2) + 1)) as Read;
}
