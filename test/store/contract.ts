// The contract of every Store, whatever the storage. Each kind runs it on real storage of its own.

import { mkdtempSync, rmSync, writeFileSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/store/store.ts';

export type StoreKind = {
  /** An empty place; each call is another one. */
  readonly open: () => Store;
  /** The same place as another process sees it. */
  readonly again: (store: Store) => Store;
  /** From so many bytes on, a file is written in several requests. */
  readonly partBytes: number;
};

/** No two places in it are alike. */
const large = (bytes: number): Buffer => {
  const content = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4) content.writeUInt32LE(Math.imul(at, 2_654_435_761) >>> 0, at);
  return content;
};

export function storeContract({ open, again, partBytes }: StoreKind): void {
  let store: Store;
  beforeEach(() => {
    store = open();
  });
  const textOf = async (readable: Readable): Promise<string> =>
    Buffer.concat(await readable.map((chunk: Uint8Array) => Buffer.from(chunk)).toArray()).toString();
  const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;

  describe('a file', () => {
    it('is read as it was written, whole and as a stream', async () => {
      const text = 'Äpfel & "Birnen"\u2028\r\n';
      await store.write('a/b c+d.json', text);
      expect(await again(store).read('a/b c+d.json')).toBe(text);
      expect(await textOf(store.open('a/b c+d.json'))).toBe(text);
      await store.write('a/b c+d.json', new Uint8Array([65, 66]), 'cached');
      expect(await store.read('a/b c+d.json')).toBe('AB');
    });

    it('has a name with any characters that a key of a row may have', async () => {
      const names = ["1 'a' (b)*!.png", '%41~_-.$,;=@:&.png', 'é漢字😀.png', '#?[]{}^`|.png'];
      for (const name of names) await store.write(`outputs/x/${name}`, name);
      expect(await store.list('outputs/x')).toEqual(names.toSorted());
      for (const name of names) expect(await store.read(`outputs/x/${name}`)).toBe(name);
    });

    it('may be empty', async () => {
      await store.write('empty', '');
      expect([await store.read('empty'), await store.facts('empty')]).toEqual([
        '',
        { bytes: 0, modifiedAt: expect.any(Number) },
      ]);
      expect(await textOf(store.open('empty'))).toBe('');
    });

    it('that is not there is known as such', async () => {
      expect(await store.read('none')).toBeUndefined();
      expect(await store.exists('none')).toBe(false);
      expect(await store.facts('none')).toBeUndefined();
      expect(await store.open('none').toArray().catch(codeOf)).toBe('ENOENT');
      await store.remove('none');
    });

    it('has a size and a time', async () => {
      await store.write('outputs/a.bin', new Uint8Array(5));
      const { bytes, modifiedAt = 0 } = (await store.facts('outputs/a.bin')) ?? {};
      expect(bytes).toBe(5);
      expect(Math.abs(Date.now() - modifiedAt)).toBeLessThan(60_000);
      expect(await store.facts('outputs')).toBeUndefined();
    });

    it.each(['../beside', 'outputs/../../beside', '.'])('has no place %s', async (name) => {
      await expect(async () => store.write(name, 'x')).rejects.toThrow('outside the batch folder');
      await expect(async () => store.open(name).toArray()).rejects.toThrow('outside the batch folder');
    });
  });

  describe('creating a file', () => {
    it('happens once', async () => {
      expect(await store.create('batch.json', 'first')).toBe(true);
      expect(await again(store).create('batch.json', 'second')).toBe(false);
      expect(await store.create('batch.json', 'first')).toBe(false);
      expect(await store.read('batch.json')).toBe('first');
    });

    it('does not happen where a file was written', async () => {
      await store.write('summary.json', 'old');
      expect(await store.create('summary.json', 'new')).toBe(false);
      expect(await store.read('summary.json')).toBe('old');
    });

    it('happens for one of all that do it at the same moment, and for it as a whole', async () => {
      const contents = Array.from({ length: 20 }, (_, at) => `${at} `.repeat(50_000));
      const created = await Promise.all(contents.map((content) => again(store).create('one', content)));
      expect(created.filter(Boolean)).toHaveLength(1);
      expect(await store.read('one')).toBe(contents[created.indexOf(true)]);
      expect(await store.list('')).toEqual(['one']);
    });
  });

  describe('an update', () => {
    it('sees what is there, and leaves it if it says so', async () => {
      const seen: (string | undefined)[] = [];
      const next = (result: string | undefined) => (current: string | undefined) => {
        seen.push(current);
        return result;
      };
      await store.update('a/count', next(undefined));
      expect(await store.exists('a/count')).toBe(false);
      await store.update('a/count', next('one'));
      await again(store).update('a/count', next(undefined));
      expect(await store.read('a/count')).toBe('one');
      await again(store).update('a/count', next('two'));
      expect([await store.read('a/count'), seen]).toEqual(['two', [undefined, undefined, 'one', 'one']]);
    });

    it('is asked again if another writer was faster', async () => {
      await store.write('count', '1');
      await store.update('count', async (current = '') => {
        if (current === '1') await again(store).update('count', (newer) => `${newer}+2`);
        return `${current}+3`;
      });
      expect(await store.read('count')).toBe('1+2+3');
    });

    it('loses nothing of others at the same moment', async () => {
      const writers = ['a', 'b', 'c', 'd', 'e'];
      await Promise.all(writers.map((own) => again(store).update('all', (text = '') => text + own)));
      expect(((await store.read('all')) ?? '').split('').toSorted()).toEqual(writers);
      expect(await store.list('')).toEqual(['all']);
    });
  });

  describe('a folder', () => {
    it('lists its files and its folders, sorted, without hidden ones', async () => {
      expect([await store.list(''), await store.folders('')]).toEqual([[], []]);
      for (const name of ['b/1', 'a/2', 'a/1', '.names/1', 'file', '.hidden']) await store.write(name, 'x');
      expect([await store.list(''), await store.folders('')]).toEqual([['file'], ['a', 'b']]);
      expect([await store.list('a'), await store.folders('a')]).toEqual([['1', '2'], []]);
      expect([await store.list('nothing'), await store.folders('nothing')]).toEqual([[], []]);
    });

    it('is not mistaken for one whose name begins alike', async () => {
      await store.write('parts/1', 'x');
      await store.write('parts-of-others/2', 'x');
      await store.clear('parts');
      expect(await store.folders('')).toEqual(['parts-of-others']);
    });

    it('is removed with everything in it, and so is the whole batch', async () => {
      for (const name of ['a/1', 'a/b/2', 'c/.hidden', 'batch.json', 'summary.json'])
        await store.write(name, 'x');
      await store.clear('a');
      await store.clear('a');
      expect([await store.folders(''), await store.exists('a/b/2')]).toEqual([['c'], false]);
      await store.clear('');
      expect([await store.list(''), await store.folders(''), await store.exists('c/.hidden')]).toEqual([
        [],
        [],
        false,
      ]);
    });

    it('loses one file without the others', async () => {
      for (const name of ['a/1', 'a/2']) await store.write(name, 'x');
      await store.remove('a/1');
      expect(await store.list('a')).toEqual(['2']);
    });

    it('comes from this machine as a whole', async () => {
      const around = mkdtempSync(join(tmpdir(), 'runsheet-bring-'));
      try {
        const from = join(around, 'from');
        mkdirSync(join(from, 'rows'), { recursive: true });
        for (let at = 0; at < 40; at += 1) writeFileSync(join(from, 'rows', `${at}.jsonl`), `row ${at}`);
        writeFileSync(join(from, 'sheet.csv'), large(3_000_000));
        const now = await store.bring('layout/0123', from);
        expect(await store.list('layout/0123/rows')).toHaveLength(40);
        expect(await store.read('layout/0123/rows/39.jsonl')).toBe('row 39');
        expect((await store.facts('layout/0123/sheet.csv'))?.bytes).toBe(3_000_000);
        expect(now).toBe(store.localPath?.('layout/0123') ?? from);
      } finally {
        rmSync(around, { recursive: true });
      }
    });
  });

  describe('a draft', () => {
    it('is invisible until it is whole, and then replaces the file', async () => {
      await store.write('results.csv', 'old');
      const draft = await store.draft('results.csv');
      await draft.write('half of ');
      expect([await store.read('results.csv'), await store.list('')]).toEqual(['old', ['results.csv']]);
      await draft.write(Buffer.from('the new'));
      await draft.commit();
      await draft.discard();
      expect(await store.read('results.csv')).toBe('half of the new');
    });

    it.each([
      ['small', 3],
      ['large', 9 << 20],
    ])('of a view that another writer replaced meanwhile is refused: %s', async (_, bytes) => {
      const ofNone = await store.draft('results.csv', 'view');
      await ofNone.write(large(bytes));
      const first = await store.draft('results.csv', 'view');
      await first.write('first');
      await first.commit();
      await expect(ofNone.commit()).rejects.toMatchObject({ code: 'E612' });
      await ofNone.discard();
      const ofFirst = await store.draft('results.csv', 'view');
      await ofFirst.write(large(bytes));
      await store.write('results.csv', 'second');
      await expect(ofFirst.commit()).rejects.toMatchObject({ code: 'E612' });
      await ofFirst.discard();
      expect([await store.read('results.csv'), await store.list('')]).toEqual(['second', ['results.csv']]);
      const last = await store.draft('results.csv', 'view');
      await last.write(large(bytes));
      await last.commit();
      expect((await store.facts('results.csv'))?.bytes).toBe(bytes);
    });

    it('leaves nothing if it is discarded', async () => {
      const draft = await store.draft('parts/000001.jsonl');
      await draft.write(large(partBytes + 10));
      await draft.discard();
      await draft.discard();
      expect([await store.exists('parts/000001.jsonl'), await store.list('parts')]).toEqual([false, []]);
    });

    it('may be much larger than what is in memory', async () => {
      const piece = large(1 << 20);
      const draft = await store.draft('results.jsonl');
      for (let at = 0; at < 20; at += 1) await draft.write(piece);
      await draft.write('end');
      await draft.commit();
      expect((await store.facts('results.jsonl'))?.bytes).toBe(20 * piece.byteLength + 3);
      let at = 0;
      let differs = 0;
      for await (const chunk of store.open('results.jsonl') as AsyncIterable<Buffer>) {
        for (let done = 0; done < chunk.byteLength;) {
          const within = (at + done) % piece.byteLength;
          const length = Math.min(piece.byteLength - within, chunk.byteLength - done);
          const isEnd = at + done >= 20 * piece.byteLength;
          const expected = isEnd ? Buffer.from('end') : piece.subarray(within, within + length);
          if (!chunk.subarray(done, done + length).equals(expected)) differs += 1;
          done += length;
        }
        at += chunk.byteLength;
      }
      expect([at, differs]).toEqual([20 * piece.byteLength + 3, 0]);
    });
  });
}
