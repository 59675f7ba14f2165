import {
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PageCache } from '../../../src/store/s3/page-cache.ts';

describe('the cache of pages in S3', () => {
  let around = '';
  let folder = '';
  let reads: string[] = [];
  beforeEach(() => {
    around = mkdtempSync(join(tmpdir(), 'runsheet-cache-'));
    folder = join(around, 'pages');
    reads = [];
  });
  afterEach(() => rmSync(around, { recursive: true }));
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
