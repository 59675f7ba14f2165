import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { discardFolder, discardFolders, isDiscarded } from '../../src/store/discard-folder.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const FILES = 3_000;
const PATIENCE = {
  patienceMs: 0,
  environment: { ...process.env, RUNSHEET_API_KEY: 'planted-key', AWS_SECRET_ACCESS_KEY: 'planted-secret' },
};

let parent: string;
beforeEach(() => (parent = freshFolder()));

function folderOf(name: string): string {
  const folder = join(parent, name);
  mkdirSync(join(folder, 'outputs'), { recursive: true });
  for (let file = 0; file < FILES; file += 1) writeFileSync(join(folder, 'outputs', `${file}.png`), 'x');
  return folder;
}

/** Of a process that may have ended. */
function ofProcess(pid: string, name: 'cmdline' | 'environ'): string {
  const path = join('/proc', pid, name);
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

describe('a folder that is discarded', () => {
  it('is gone immediately, although its files are still being deleted', async () => {
    const folder = folderOf('shoes');
    const removing = discardFolder(folder);
    await vi.waitFor(() => expect(existsSync(folder)).toBe(false), { interval: 1 });
    expect(readdirSync(parent).filter(isDiscarded)).toHaveLength(1);
    await removing;
    expect(readdirSync(parent)).toEqual([]);
  });

  it('is deleted here if the names of all are too long for the arguments of another process', async () => {
    const deep = join(parent, ...Array.from({ length: 15 }, () => 'x'.repeat(240)));
    const all = Array.from({ length: 700 }, (_, at) => join(deep, `.removed-${at}-00000000`));
    for (const one of all) mkdirSync(one, { recursive: true });
    writeFileSync(join(all[0] ?? '', 'output.png'), 'x');
    expect(await discardFolders(all, PATIENCE)).toEqual({ isOver: true, failed: [] });
    expect(readdirSync(deep)).toEqual([]);
  });

  it('is deleted by another process if that takes long, which leaves a new folder of the same name alone', async () => {
    const folder = folderOf('shoes');
    folderOf('.removed-older-00000000');
    const all = ['shoes', '.removed-older-00000000'].map((name) => join(parent, name));
    expect(await discardFolders(all, PATIENCE)).toEqual({ isOver: false, failed: [] });
    mkdirSync(folder);
    writeFileSync(join(folder, 'batch.json'), '{}');
    await vi.waitFor(() => expect(readdirSync(parent)).toEqual(['shoes']), { timeout: 20_000 });
    expect(readdirSync(folder)).toEqual(['batch.json']);
  });

  it.runIf(process.platform === 'linux')(
    'is deleted by a process without a secret in its environment',
    async () => {
      await discardFolders([folderOf('shoes')], PATIENCE);
      const pid = readdirSync('/proc').find(
        (one) => /^\d+$/.test(one) && ofProcess(one, 'cmdline').includes(`${parent}/.removed-shoes-`),
      );
      const environment = ofProcess(pid ?? '', 'environ');
      expect(environment).toContain('PATH=');
      expect(environment).not.toContain('planted');
      await vi.waitFor(() => expect(readdirSync(parent)).toEqual([]), { timeout: 20_000 });
    },
  );

  it('says when all files are deleted in time', async () => {
    const all = [folderOf('shoes'), join(parent, 'none')];
    expect(await discardFolders(all, { ...PATIENCE, patienceMs: 60_000 })).toEqual({
      isOver: true,
      failed: [],
    });
    expect(readdirSync(parent)).toEqual([]);
  });

  it('that is a link loses the link only', async () => {
    const folder = folderOf('shoes');
    symlinkSync(folder, join(parent, 'link'));
    await discardFolder(join(parent, 'link'));
    expect([readdirSync(parent), readdirSync(join(folder, 'outputs')).length]).toEqual([['shoes'], FILES]);
    symlinkSync(parent, join(folder, 'outputs/up'));
    await discardFolder(folder);
    expect(readdirSync(parent)).toEqual([]);
  });

  it('that does not exist is no error', async () => {
    await expect(discardFolder(join(parent, 'none'))).resolves.toBeUndefined();
  });
});
