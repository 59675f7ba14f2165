// npm run pictures: runs the example and the kill demo on the local run service, and records the pictures of the documents: two
// sessions of a terminal, which move, and the report. Needs `script` (util-linux), which gives a command a terminal, and Chromium.

import { mkdtempSync, readdirSync, rmSync, copyFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { animationOf, type Playback } from './animation.ts';
import { photographReport } from './report.ts';
import { recordSession, screensOf } from './session.ts';

const ROOT = join(import.meta.dirname, '../..');
const PICTURES = join(ROOT, 'docs/pictures');
const TERMINAL = { columns: 108, rows: 24 };
/** Screens are so far apart when they are played. */
const APART_MS = 200;
const MOST_BYTES = 300_000;

const folder = mkdtempSync(join(tmpdir(), 'runsheet-pictures-'));
/** Commands are named as the program was called: by the name that it has on the PATH. */
const PROGRAM = join(folder, 'runsheet');
try {
  symlinkSync(join(ROOT, 'bin/runsheet.mjs'), PROGRAM);
  copyFileSync(join(ROOT, 'examples/portraits.csv'), join(folder, 'portraits.csv'));
  await record('live.svg', 'run portraits.csv -d portraits --local', { speed: 1, restMs: 4_000 });
  await record('kill.svg', 'demo --kill', { speed: 3, restMs: 6_000 });
  const batches = join(folder, 'batches');
  const batch = readdirSync(batches).find((name) => !name.startsWith('.') && !name.endsWith('.html')) ?? '';
  await photographReport(join(batches, batch, 'report.html'));
} finally {
  rmSync(folder, { recursive: true, maxRetries: 5 });
}

async function record(name: string, words: string, playback: Playback): Promise<void> {
  const session = recordSession(`${process.execPath} ${PROGRAM} ${words}`, folder, TERMINAL);
  const screens = await screensOf(`runsheet ${words}`, session, TERMINAL, APART_MS * playback.speed);
  const svg = animationOf(screens, TERMINAL, playback);
  if (svg.includes(tmpdir()) || svg.includes(ROOT)) throw new Error(`${name} shows a path of this machine`);
  if (svg.length > MOST_BYTES) throw new Error(`${name} has ${svg.length} bytes`);
  writeFileSync(join(PICTURES, name), svg);
}
