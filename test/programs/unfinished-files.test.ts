// Files that a staying program has not finished when it answers, or that it changes later.

import { appendFileSync, existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { endByFiles } from '../../src/run-service/executors/program/run-end.ts';
import { TryFolder } from '../../src/run-service/executors/program/try-folder.ts';
import { wholeFiles } from '../../src/run-service/executors/program/whole-files.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { until } from '../stage/stage.ts';
import { filesOf, ProgramService } from './program-service.ts';
import { nameStaying, stayingScript } from './staying-programs.ts';

const REASON = 'was written after the answer: a program closes its files before it answers';

/** Writes a file until it is later than another one, by the clock of the file system. */
function writeLater(path: string, than: string): void {
  do appendFileSync(path, 'x');
  while (statSync(path).mtimeMs <= statSync(than).mtimeMs);
}

it('a file that goes on being written after the answer fails the run with its name', async () => {
  const folder = new TryFolder(freshFolder(), 'run.1');
  folder.create({});
  const [file, answer] = [join(folder.output, 'note.txt'), join(folder.path, 'answer')];
  writeFileSync(file, 'begun');
  writeLater(answer, file);
  writeLater(file, answer);
  const end = await endByFiles(folder, statSync(answer).mtimeMs, { ranMs: 1, stays: true });
  expect(end).toEqual({ status: 'failed', ranMs: 1, reason: `the file note.txt ${REASON}` });
});

it('a file that a program changes after its run has succeeded stays as it was', async () => {
  const scene = await ProgramService.open();
  const body = `
    writeFileSync(run.dir + '/note.txt', 'whole');
    const file = require('node:fs').openSync(run.dir + '/note.txt', 'a');
    answer({ id: run.id, ok: true });
    await untilFile('go-on');
    require('node:fs').writeSync(file, ', and more');
    note('changed', '');`;
  await nameStaying(scene, stayingScript(body));
  const run = await scene.ended();
  expect([run.status, filesOf(run)]).toEqual(['success', ['note.txt']]);
  const [kept = ''] = globSync(`????-??-??/${run.id}/*`, { cwd: scene.own.files });
  scene.allow('go-on');
  await until(() => existsSync(scene.path('changed')), 'the program has changed its file');
  expect(readFileSync(join(scene.own.files, kept), 'utf8')).toBe('whole');
});

it.each([
  ['is changed', (path: string) => appendFileSync(path, 'more')],
  ['is overwritten with as many bytes', (path: string) => writeFileSync(path, 'other')],
])('a file that %s while it is copied is refused', async (_, change) => {
  const folder = new TryFolder(freshFolder(), 'run.1');
  folder.create({});
  const path = join(folder.output, 'note.txt');
  writeFileSync(path, 'whole');
  const copies = wholeFiles(folder, Infinity);
  change(path);
  await expect(copies).rejects.toThrow(`the file note.txt ${REASON}`);
});

it('files are copied once, so that a later service delivers the same ones', async () => {
  const folder = new TryFolder(freshFolder(), 'run.1');
  folder.create({});
  writeFileSync(join(folder.output, 'note.txt'), 'whole');
  await wholeFiles(folder, Infinity);
  writeFileSync(join(folder.output, 'note.txt'), 'other');
  const [{ path } = { path: '' }] = await wholeFiles(folder, Infinity);
  expect(readFileSync(path, 'utf8')).toBe('whole');
});
