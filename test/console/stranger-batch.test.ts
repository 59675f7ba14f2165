// The batch.json of a stranger chooses the folder in which its rows name files, so it could make every file of this machine its own.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { loadConfig } from '../../src/host/settings/config.ts';
import { rememberPlace } from '../../src/batches/known-places.ts';
import type { BatchFile } from '../../src/store/batch-file.ts';
import { Console, PORTRAITS } from './console.ts';
import { endBatch } from './ended-batch.ts';

const UPSCALER = { name: 'upscale', inputTypes: [{ name: 'image', type: 'image', required: true }] };
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let console: Console;
let file: BatchFile;
beforeEach(async () => {
  console = await Console.open([PORTRAITS, UPSCALER]);
  const before = process.cwd();
  process.chdir(console.folder);
  onTestFinished(() => process.chdir(before));
  writeFileSync(join(console.folder, 'secret.png'), Buffer.from(PIXEL, 'base64'));
  const sheet = console.write('sheet.csv', `prompt,photo\na fox,${join(console.folder, 'secret.png')}\n`);
  const made = await console.batch(sheet, 'theirs');
  await endBatch(made, true, 'succeeded');
  const path = join(made.folder, 'batch.json');
  const batchFolder = JSON.parse(readFileSync(path, 'utf8')) as BatchFile;
  const { sheet: read, service } = batchFolder;
  file = {
    ...batchFolder,
    service: { ...service, rehearsal: false },
    sheet: { ...read, files: { ...read.files, folder: '/' } as never },
  };
  writeFileSync(path, JSON.stringify(file));
  vi.stubEnv('RUNSHEET_OUT', undefined);
});

const plan = () =>
  console.run('plan', '--from', 'theirs', '-d', 'upscale', '--map', 'image=photo', '--drop', 'prompt');

it('a batch that came with a folder does not make the files of this machine its own: they are asked about', async () => {
  expect(await plan()).toMatchObject({ code: 0, stderr: expect.stringContaining('outside of its folder') });
});

it('a batch that this user has made names files in the folder of its sheet without a question', async () => {
  rememberPlace(loadConfig().places, { out: console.out, file });
  expect((await plan()).stderr).not.toContain('outside of its folder');
});
