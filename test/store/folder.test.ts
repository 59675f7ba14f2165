import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';

describe('a batch folder', () => {
  let around = '';
  let folder = '';
  let store: Store;
  beforeEach(() => {
    around = mkdtempSync(join(tmpdir(), 'runsheet-store-'));
    folder = join(around, 'batch');
    store = folderStore(folder);
  });
  afterEach(() => rmSync(around, { recursive: true }));

  it('shows the old file until the new one is whole', async () => {
    await store.write('results.csv', 'old');
    const draft = await store.draft('results.csv');
    await draft.write('half of ');
    expect(await store.read('results.csv')).toBe('old');
    await draft.write('the new');
    await draft.commit();
    await draft.discard();
    expect(await store.read('results.csv')).toBe('half of the new');
  });

  it('keeps nothing of a draft that was given up', async () => {
    const draft = await store.draft('parts/000001.jsonl');
    await draft.write('half');
    await draft.discard();
    await draft.discard();
    expect(await store.exists('parts/000001.jsonl')).toBe(false);
    expect(readdirSync(join(folder, 'parts'))).toEqual([]);
  });

  it('does not list what is still being written', async () => {
    const draft = await store.draft('parts/000002.jsonl');
    await store.write('parts/000001.jsonl', 'whole', 'cached');
    expect(await store.list('parts')).toEqual(['000001.jsonl']);
    await draft.discard();
    expect(await store.list('nothing')).toEqual([]);
  });

  it.each(['../beside', 'outputs/../../beside', '/proc/beside', '.'])('has no place %s', async (name) => {
    await expect(async () => store.write(name, 'x')).rejects.toThrow('outside the batch folder');
    expect(() => store.open(name)).toThrow('outside the batch folder');
  });

  it('makes folders as files arrive, small ones and others alike', async () => {
    await store.write('outputs/a/1.png', new Uint8Array([1, 2]), 'cached');
    await store.write('outputs/b/c/1.png', new Uint8Array([3]));
    expect(readFileSync(join(folder, 'outputs/a/1.png'))).toEqual(Buffer.from([1, 2]));
    expect(readFileSync(join(folder, 'outputs/b/c/1.png'))).toEqual(Buffer.from([3]));
  });
});
