// npm run pictures: runs the example and examples/kills on the local run service, and records the pictures of the documents: two
// sessions of a terminal, which move, and the report. Needs `script` (util-linux), which gives a command a terminal, and Chromium.

import { mkdtempSync, readdirSync, rmSync, copyFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { photograph } from './report.ts';
import { pictureOf, ROOT } from './terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'runsheet-pictures-'));
try {
  copyFileSync(join(ROOT, 'examples/portraits.csv'), join(folder, 'portraits.csv'));
  await pictureOf('live.svg', 'runsheet run portraits.csv -d portraits --local', folder, {
    speed: 1,
    restMs: 4_000,
  });
  await pictureOf('kill.svg', 'npm run demo', folder, { speed: 3, restMs: 6_000 });
  const batches = join(folder, 'batches');
  const batch = readdirSync(batches).find((name) => !name.startsWith('.') && !name.endsWith('.html')) ?? '';
  await photograph(join(batches, batch, 'report.html'));
} finally {
  rmSync(folder, { recursive: true, maxRetries: 5 });
}
