// npm run pictures:comfyui -- http://127.0.0.1:8188: runs the example without a model on a real ComfyUI, and records the terminal and
// the report.

import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { photograph } from './report.ts';
import { pictureOf, ROOT } from './terminal.ts';

const [, , url] = process.argv;
if (url === undefined) throw new Error('give the address of a ComfyUI');
const folder = mkdtempSync(join(tmpdir(), 'runsheet-pictures-'));
try {
  for (const name of ['lights.csv', 'lights_api.json'])
    copyFileSync(join(ROOT, 'examples', name), join(folder, name));
  const words = `runsheet run lights.csv --workflow lights_api.json --comfyui ${url}`;
  await pictureOf('own-gpus.svg', words, folder, { speed: 1, restMs: 4_000 });
  const batches = join(folder, 'batches');
  const batch = readdirSync(batches).find((name) => !name.startsWith('.') && !name.endsWith('.html')) ?? '';
  await photograph(join(batches, batch, 'report.html'), ['own-gpus-report.png']);
} finally {
  rmSync(folder, { recursive: true, maxRetries: 5 });
}
