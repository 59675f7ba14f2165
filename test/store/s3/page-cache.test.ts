import { hash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { PageCache } from '../../../src/store/s3/bucket-store.ts';
import { freshFolder } from '../../stage/fresh-folder.ts';

describe('the cache of pages in S3', () => {
  let around = '';
  let folder = '';
  let reads: string[] = [];
  beforeEach(() => {
    around = freshFolder();
    folder = join(around, 'pages');
    reads = [];
  });
  const get = async (
    name: string,
    content: Buffer | undefined = Buffer.from(name),
    cache = new PageCache(folder),
  ) =>
    (
      await cache.get(name, async () => {
        reads.push(name);
        return content;
      })
    )?.toString();

  it('reads a file once, also for other processes, which only this user can see', async () => {
    expect([await get('a'), await get('a'), await get('b')]).toEqual(['a', 'a', 'b']);
    expect(reads).toEqual(['a', 'b']);
    const [one = ''] = readdirSync(folder);
    expect([statSync(folder).mode & 0o077, statSync(join(folder, one)).mode & 0o077]).toEqual([0, 0]);
  });

  it('does not keep that a file is not there', async () => {
    const cache = new PageCache(folder);
    expect(await cache.get('a', async () => undefined)).toBeUndefined();
    expect(await get('a')).toBe('a');
  });

  it.each<[string, (path: string) => void]>([
    ['cut short', (path) => truncateSync(path, 34)],
    ['empty', (path) => truncateSync(path, 0)],
    ['changed', (path) => writeFileSync(path, readFileSync(path).fill('x', 33))],
  ])('reads a file again whose copy is %s', async (_, damage) => {
    await get('a', Buffer.from('the whole content'));
    damage(join(folder, readdirSync(folder)[0] ?? ''));
    expect(await get('a', Buffer.from('the whole content'))).toBe('the whole content');
    expect(reads).toEqual(['a', 'a']);
  });

  it('reads from S3 if its folder cannot be used', async () => {
    writeFileSync(folder, 'a file');
    expect([await get('a'), await get('a')]).toEqual(['a', 'a']);
    expect(reads).toEqual(['a', 'a']);
  });

  const STRANGER = 65_534;
  const isRoot = process.getuid?.() === 0;
  it.each<[string, () => void]>([
    ['is a link to another one', () => symlinkSync(join(around, 'theirs'), folder)],
    ['all users can write', () => (mkdirSync(folder), chmodSync(folder, 0o777))],
    ...(isRoot
      ? [
          ['belongs to another user', () => (mkdirSync(folder), chownSync(folder, STRANGER, STRANGER))] as [
            string,
            () => void,
          ],
        ]
      : []),
  ])('neither reads nor writes in a folder that %s', async (_, make) => {
    mkdirSync(join(around, 'theirs'));
    await get('a', Buffer.from('of the bucket'), new PageCache(join(around, 'ours')));
    const [name = ''] = readdirSync(join(around, 'ours'));
    make();
    const forged = Buffer.from('of another user');
    writeFileSync(join(folder, name), Buffer.concat([hash('sha256', forged, 'buffer'), forged]));
    expect(await get('a', Buffer.from('of the bucket'))).toBe('of the bucket');
    expect(await get('b')).toBe('b');
    expect(readdirSync(folder)).toEqual([name]);
  });

  it('closes its folder to readers', async () => {
    mkdirSync(folder, { mode: 0o755 });
    await get('a');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('removes what was not used for long before it takes too much room', async () => {
    const cache = new PageCache(folder, 100_000);
    for (let at = 0; at < 20; at += 1) {
      await get(String(at), Buffer.alloc(10_000, 'x'), cache);
      await get('0', Buffer.alloc(10_000, 'x'), cache);
    }
    const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    expect(bytes).toBeLessThan(210_000);
    expect(reads.filter((name) => name === '0')).toEqual(['0']);
  });
});
