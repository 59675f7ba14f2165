// Saves of a real file, in the ways in which programs save.

import { openSync, closeSync, renameSync, unlinkSync, utimesSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { FileSaves, type FileSavesOptions } from '../../src/library/watched/file-saves.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const SOON = { stableMs: 40, pollMs: 20 };
const NEVER = new AbortController().signal;

let folder: string;
let path: string;
beforeEach(() => {
  folder = freshFolder();
  path = join(folder, 'prompts.xlsx');
  writeFileSync(path, 'one\n');
});

async function saves(options: FileSavesOptions = SOON): Promise<FileSaves> {
  const fileSaves = new FileSaves(path, options);
  await fileSaves.take();
  return fileSaves;
}

async function timeOf(waiting: Promise<unknown>): Promise<number> {
  const began = performance.now();
  await waiting;
  return performance.now() - began;
}

describe('a file that is watched', () => {
  it('is saved once by a temporary file and a rename, also if it is missing in between', async () => {
    const fileSaves = await saves();
    const next = fileSaves.next(NEVER);
    unlinkSync(path);
    writeFileSync(`${path}.tmp`, 'two\n');
    renameSync(`${path}.tmp`, path);
    expect(await next).toBe('saved');
    expect(await fileSaves.next(NEVER, 100)).toBe('again');
  });

  it('is saved only when it is written to its end', async () => {
    const fileSaves = await saves({ stableMs: 150, pollMs: 20 });
    const next = fileSaves.next(NEVER);
    const file = openSync(path, 'w');
    for (let piece = 0; piece < 6; piece += 1) {
      writeSync(file, 'piece\n');
      // The program writes slowly, but faster than the file counts as stable.
      await wait(25);
    }
    const writtenAt = performance.now();
    closeSync(file);
    expect(await next).toBe('saved');
    expect(performance.now() - writtenAt).toBeGreaterThan(50);
    expect(await fileSaves.next(NEVER, 100)).toBe('again');
  });

  it('is not saved in the middle of a line until it has not changed for longer', async () => {
    const fileSaves = await saves({ stableMs: 30, unendedMs: 400, pollMs: 20 });
    writeFileSync(path, 'sku,price\na,12');
    expect(await timeOf(fileSaves.next(NEVER))).toBeGreaterThan(380);
    const next = fileSaves.next(NEVER);
    writeFileSync(path, 'sku,price\nb,12');
    await wait(120);
    const endedAt = performance.now();
    writeFileSync(path, 'sku,price\nb,1234\n');
    expect(await next).toBe('saved');
    expect(performance.now() - endedAt).toBeLessThan(350);
    expect(await fileSaves.next(NEVER, 100)).toBe('again');
  });

  it.each([
    ['a workbook', 'PK\u0003\u0004 no line break', 'latin1'],
    ['UTF-16', '\ufeffsku\na\n', 'utf16le'],
  ] as const)('is saved after a moment as %s', async (_, text, encoding) => {
    const fileSaves = await saves({ stableMs: 30, unendedMs: 60_000, pollMs: 20 });
    writeFileSync(path, text, encoding);
    expect(await fileSaves.isTaken()).toBe(false);
    expect(await fileSaves.next(NEVER)).toBe('saved');
    expect(await fileSaves.isTaken()).toBe(true);
  });

  it('is saved also if size and content are the same, and while no call waits for it', async () => {
    const fileSaves = await saves();
    utimesSync(path, 1, 1);
    expect(await fileSaves.next(NEVER)).toBe('saved');
  });

  it('is no longer waited for after the signal', async () => {
    const fileSaves = await saves({ stableMs: 20, pollMs: 60_000 });
    const stop = new AbortController();
    const next = fileSaves.next(stop.signal);
    stop.abort();
    expect(await next).toBe('stopped');
  });
});
