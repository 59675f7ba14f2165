import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { discardFolder, isDiscarded } from '../../src/store/discard-folder.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const FILES = 3_000;
let parent: string;
beforeEach(() => (parent = freshFolder()));

function folderOf(name: string): string {
  const folder = join(parent, name);
  mkdirSync(join(folder, 'outputs'), { recursive: true });
  for (let file = 0; file < FILES; file += 1) writeFileSync(join(folder, 'outputs', `${file}.png`), 'x');
  return folder;
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

  it('whose deletion was interrupted is deleted by its hidden name, which leaves a new folder of the same name alone', async () => {
    folderOf('.removed-shoes-00000000');
    folderOf('shoes');
    await discardFolder(join(parent, '.removed-shoes-00000000'));
    expect(readdirSync(parent)).toEqual(['shoes']);
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
