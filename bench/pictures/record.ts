// npm run pictures: runs the example on the local run service and records the pictures of the documents: the terminal in the
// middle of the batch, and the report. Needs `script` (util-linux), which gives the command a terminal, and Chromium.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { photographReport } from './report.ts';
import { svgOf } from './terminal.ts';

const ROOT = join(import.meta.dirname, '../..');
const PICTURES = join(ROOT, 'docs/pictures');
const SHEET = join(ROOT, 'examples/portraits.csv');
const TERMINAL = { columns: 108, rows: 24 };
const COMMAND = 'runsheet run portraits.csv -d portraits --local';
/** The share of rows that are done in the picture. */
const SHARE = 0.6;

const folder = mkdtempSync(join(tmpdir(), 'runsheet-pictures-'));
try {
  const recording = join(folder, 'terminal');
  const run = `${process.execPath} ${join(ROOT, 'bin/runsheet.mjs')} run ${SHEET} -d portraits --local`;
  const words = `stty cols ${TERMINAL.columns} rows ${TERMINAL.rows}; ${run}`;
  execFileSync('script', ['-qfec', words, recording], { cwd: folder, stdio: 'ignore' });
  writeFileSync(
    join(PICTURES, 'live.svg'),
    svgOf(COMMAND, readFileSync(recording, 'utf8'), SHARE, TERMINAL.columns),
  );
  const batches = join(folder, 'batches');
  const batch = readdirSync(batches).find((name) => !name.startsWith('.')) ?? '';
  await photographReport(join(batches, batch, 'report.html'));
} finally {
  rmSync(folder, { recursive: true, maxRetries: 5 });
}
