import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { storeContract } from './contract.ts';
import { lostLink } from '../stage/faulty-disk.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

describe('the contract of a Store, in a folder', () => {
  storeContract({
    open: () => folderStore(freshFolder()),
    again: ({ location }) => folderStore(location),
    partBytes: 1,
  });
});

describe('a batch folder', () => {
  let around = '';
  let folder = '';
  let store: Store;
  beforeEach(() => {
    around = freshFolder();
    folder = join(around, 'batch');
    store = folderStore(folder);
  });

  it('reads neither a pipe, which would wait for its writer, nor a device, which never ends', async () => {
    mkdirSync(folder);
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    symlinkSync('/dev/zero', join(folder, 'device'));
    for (const name of ['pipe', 'device']) {
      await expect(store.read(name)).rejects.toThrow('is no plain file');
      await expect(buffer(store.open(name))).rejects.toThrow('is no plain file');
      await expect(store.update(name, () => 'x')).rejects.toThrow('is no plain file');
    }
    await store.write('plain', 'text');
    expect([await store.read('plain'), String(await buffer(store.open('plain')))]).toEqual(['text', 'text']);
    await expect(buffer(store.open('none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('has no file of a run where a link leads out of it', async () => {
    const secret = join(around, 'secret');
    mkdirSync(secret);
    writeFileSync(join(secret, 'key.png'), 'secret');
    await store.write('outputs/own.png', 'own');
    symlinkSync(join(secret, 'key.png'), join(folder, 'outputs', 'link.png'));
    symlinkSync(secret, join(folder, 'outputs', 'folder'));
    symlinkSync(join(folder, 'outputs', 'own.png'), join(folder, 'outputs', 'inside.png'));
    for (const name of ['outputs/link.png', 'outputs/folder/key.png']) {
      expect([await store.exists(name), await store.facts(name)]).toEqual([false, undefined]);
      expect(await store.read(name)).toBeUndefined();
      await expect(buffer(store.open(name))).rejects.toThrow('ENOENT');
    }
    for (const name of ['outputs/own.png', 'outputs/inside.png'])
      expect([await store.exists(name), String(await buffer(store.open(name)))]).toEqual([true, 'own']);
  });

  it('has created a file whose link took effect although its answer was lost', async () => {
    lostLink('once.json');
    expect(await store.create('once.json', 'first')).toBe(true);
    expect(await store.create('once.json', 'second')).toBe(false);
    expect(await store.read('once.json')).toBe('first');
    expect(readdirSync(folder)).toEqual(['once.json']);
  });

  it.each(['synced', 'cached'] as const)(
    'is not made anew where an existing one has vanished with its disk: nothing %s is written elsewhere',
    async (as) => {
      const existing = folderStore(folder, 'existing');
      await store.write('batch.json', '{}');
      await existing.write('parts/000001.jsonl', 'whole', as);
      rmSync(folder, { recursive: true });
      const write = async (name: string) => existing.write(name, 'x', as);
      await expect(write('parts/000002.jsonl')).rejects.toMatchObject({ code: 'ENOENT' });
      await expect(write('summary.json')).rejects.toMatchObject({ code: 'ENOENT' });
      await expect(async () => existing.create('late/000001.jsonl', 'x')).rejects.toMatchObject({
        code: 'ENOENT',
      });
      expect(readdirSync(around)).toEqual([]);
    },
  );

  it('creates each file for one of the processes that create it at the same moment, even if containers give all of them the id 1', async () => {
    const files = 150;
    const created = await Promise.all([0, 1, 2].map(() => createdByProcess(folder, files)));
    expect(created.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: files }, (_, at) => at));
    expect(readdirSync(folder)).toHaveLength(files);
  });

  it('lists its folders, also linked ones, without files', async () => {
    for (const name of ['a/1', 'file']) await store.write(name, 'x');
    symlinkSync(join(folder, 'a'), join(folder, 'link'));
    expect([await store.folders(''), await store.list('')]).toEqual([['a', 'link'], ['file']]);
  });

  it('removes no folder behind a link that leads out of it', async () => {
    await store.write('a/1', 'x');
    mkdirSync(join(around, 'others', 'b'), { recursive: true });
    symlinkSync(join(around, 'others'), join(folder, 'layout'));
    await expect(store.clear('layout/b')).rejects.toThrow('lies outside the batch folder');
    expect(readdirSync(join(around, 'others'))).toEqual(['b']);
    await store.clear('layout');
    expect([readdirSync(folder), readdirSync(join(around, 'others'))]).toEqual([['a'], ['b']]);
    await store.clear('');
    expect(readdirSync(around)).toEqual(['others']);
  });

  it('writes small files although a file is in the place of the folder of another one', async () => {
    await store.write('outputs/fox', 'in the way');
    await store.write('outputs/hen/1.png', 'x');
    const names = ['hen/2.png', 'fox/1.png', 'hen/3.png', 'owl/1.png'];
    const written = await Promise.allSettled(
      names.map((name) => store.write(`outputs/${name}`, name, 'cached')),
    );
    expect(written.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(written[1]).toMatchObject({ reason: { code: 'ENOTDIR' } });
    for (const name of ['hen/2.png', 'hen/3.png', 'owl/1.png'])
      expect(await store.read(`outputs/${name}`)).toBe(name);
    expect(readdirSync(join(folder, 'outputs/hen'))).toEqual(['1.png', '2.png', '3.png']);
  });
});

/** A process that creates files 0, 1, …, and tells which of them are its own. */
async function createdByProcess(folder: string, files: number): Promise<readonly number[]> {
  const script = `
    Object.defineProperty(process, 'pid', { value: 1 });
    const { folderStore } = await import(${JSON.stringify(new URL('../../src/store/folder.ts', import.meta.url).href)});
    const store = folderStore(${JSON.stringify(folder)});
    const created = [];
    for (let at = 0; at < ${files}; at += 1) if (await store.create(String(at), 'mine')) created.push(at);
    console.log(JSON.stringify(created));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  await once(child, 'close');
  return JSON.parse(printed) as readonly number[];
}
