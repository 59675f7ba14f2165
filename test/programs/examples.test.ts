// The programs in examples/programs run every row of their sheets; those without their tool are skipped.

import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import { nameProgram } from '../../src/host/settings/named-program.ts';
import { filesOf, has, ProgramService } from './program-service.ts';

const folderOf = (name: string): string =>
  new URL(`../../examples/programs/${name}`, import.meta.url).pathname;

const EXAMPLES = [
  ['pictures', 'python3 picture.py', 'gradients.csv', 'picture.png', 'python3'],
  ['speech', 'sh speak.sh', 'lines.csv', 'speech.wav', 'espeak-ng'],
  ['video', 'python3 film.py', 'films.csv', 'film.mp4', 'ffmpeg'],
  ['staying', 'python3 draw.py', 'rings.csv', 'picture.png', 'python3'],
] as const;

it.each(EXAMPLES)('the example %s describes its inputs', (name, command) => {
  expect(nameProgram({ command, folder: folderOf(name) }, process.env).inputs).not.toBe(null);
});

const installed = EXAMPLES.filter(([, , , , tool]) => has(tool));

it.each(installed)('the example %s makes a whole file of each row', async (name, command, sheet, file) => {
  const folder = folderOf(name);
  const scene = await ProgramService.open();
  await scene.name(command, { request: { folder, stays: name === 'staying' } });
  const rows = parse(readFileSync(`${folder}/${sheet}`), { columns: true }) as Record<string, string>[];
  for (const { name: _, ...row } of rows) {
    const inputs = Object.fromEntries(
      Object.entries(row).map(([input, text]) => [input, /^[\d.]+$/.test(text) ? Number(text) : text]),
    );
    const run = await scene.ended(inputs);
    expect([await scene.own.log(run.id), run.status, filesOf(run)]).toEqual([
      expect.any(String),
      'success',
      [file],
    ]);
  }
});

it('the example pictures refuses an impossible size with its last line', async () => {
  const scene = await ProgramService.open();
  const schema = JSON.parse(readFileSync(`${folderOf('pictures')}/picture.inputs.json`, 'utf8')) as object;
  expect(schema).toHaveProperty('properties.top');
  await scene.name('python3 picture.py', { request: { folder: folderOf('pictures') } });
  const run = await scene.ended({ top: '#000000', bottom: 'no colour' });
  expect(run.status).toBe('failed');
  expect(await scene.own.log(run.id)).toContain('the program exited with 1: ValueError');
});
