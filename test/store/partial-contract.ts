// What every Store that keeps partial files does with them.

import { beforeEach, describe, expect, it } from 'vitest';
import type { ResumableDraft, Resumption, Store } from '../../src/store/store.ts';

export type StoreKind = {
  /** An empty place; each call is another one. */
  readonly open: () => Store;
  /** The same place as another process sees it. */
  readonly again: (store: Store) => Store;
  /** After how many written bytes another process finds some of them, although the writer was killed. */
  readonly safeBytes: number;
};

/** No two places in it are alike. */
export const large = (bytes: number): Buffer => {
  const content = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4) content.writeUInt32LE(Math.imul(at, 2_654_435_761) >>> 0, at);
  return content;
};

const AS = { id: 'run-1', mark: '"one"' };

export function partialFileContract({ open, again, safeBytes }: StoreKind): void {
  describe('a partial file', () => {
    let store: Store;
    beforeEach(() => {
      store = open();
    });
    const openOn = (on: Store, as: Resumption = AS): Promise<ResumableDraft> => {
      if (on.resumable === undefined) throw new Error('this store keeps no partial files');
      return on.resumable('outputs/fox/1.mp4', as);
    };
    const keptIn = async (draft: ResumableDraft): Promise<Buffer> => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of draft.read() as AsyncIterable<Uint8Array>) chunks.push(chunk);
      return Buffer.concat(chunks);
    };
    const content = large(2 * safeBytes + 12_345);

    it('continues in another process from every byte, and no reader sees it before', async () => {
      const first = await openOn(store);
      expect([first.kept, (await keptIn(first)).byteLength]).toEqual([0, 0]);
      await first.write(content.subarray(0, safeBytes + 100));
      await first.leave();
      expect([await store.list('outputs/fox'), await store.exists('outputs/fox/1.mp4')]).toEqual([[], false]);
      const second = await openOn(again(store));
      expect(second.kept).toBe(safeBytes + 100);
      expect((await keptIn(second)).equals(content.subarray(0, second.kept))).toBe(true);
      await second.write(content.subarray(second.kept));
      await second.commit();
      await second.discard();
      const read = Buffer.concat(await store.open('outputs/fox/1.mp4').toArray());
      expect(read.equals(content)).toBe(true);
      expect((await openOn(store)).kept).toBe(0);
    });

    it('also continues after two tries that ended early', async () => {
      for (const [from, to] of [
        [0, 10],
        [10, 500],
      ]) {
        const draft = await openOn(again(store));
        expect(draft.kept).toBe(from);
        await draft.write(content.subarray(from, to));
        await draft.leave();
      }
      const last = await openOn(store);
      expect((await keptIn(last)).equals(content.subarray(0, 500))).toBe(true);
      await last.write(content.subarray(500, 600));
      await last.commit();
      const read = Buffer.concat(await store.open('outputs/fox/1.mp4').toArray());
      expect(read.equals(content.subarray(0, 600))).toBe(true);
    });

    it('continues from what a killed process had written', async () => {
      const killed = await openOn(store);
      await killed.write(content.subarray(0, safeBytes + 100));
      const next = await openOn(again(store));
      expect(next.kept).toBeGreaterThanOrEqual(safeBytes);
      expect((await keptIn(next)).equals(content.subarray(0, next.kept))).toBe(true);
      await next.discard();
      expect((await openOn(store)).kept).toBe(0);
      await killed.leave();
    });

    it('has nothing of another content, and is removed with all others of its run', async () => {
      for (const as of [AS, { ...AS, id: 'run-2' }, { ...AS, id: 'walk-1' }]) {
        const draft = await openOn(store, as);
        await draft.write('half');
        await draft.leave();
      }
      const changed = await openOn(store, { ...AS, mark: '"two"' });
      expect(changed.kept).toBe(0);
      await changed.discard();
      expect((await openOn(store)).kept).toBe(0);
      await store.dropResumable?.('outputs/fox', 'run-');
      expect((await openOn(store, { ...AS, id: 'run-2' })).kept).toBe(0);
      expect((await openOn(store, { ...AS, id: 'walk-1' })).kept).toBe(4);
      await store.dropResumable?.('outputs/nothing', 'run-');
    });

    it('is right whichever of two writers is done first', async () => {
      const [one, two] = [await openOn(store), await openOn(again(store))];
      await one.write(content.subarray(0, 400));
      await two.write(content.subarray(0, safeBytes + 900));
      await one.write(content.subarray(400));
      await one.commit();
      await two.write(content.subarray(safeBytes + 900));
      await two.commit().catch(() => undefined);
      await two.discard();
      const read = Buffer.concat(await store.open('outputs/fox/1.mp4').toArray());
      expect(read.equals(content)).toBe(true);
    });

    it('is not completed with parts of another try that started over', async () => {
      const old = await openOn(store);
      await old.write(content);
      await (await openOn(again(store))).discard();
      const anew = await openOn(again(store));
      await anew.write('half');
      await expect(old.commit()).rejects.toThrow('another attempt');
      await old.discard();
      await anew.write(' and half');
      await anew.commit();
      expect(await store.read('outputs/fox/1.mp4')).toBe('half and half');
    });

    it('begins again where its caller says, and keeps nothing behind its end', async () => {
      const first = await openOn(store);
      await first.write(content.subarray(0, safeBytes + 5));
      await first.leave();
      const second = await openOn(store);
      second.restart();
      await second.write('short');
      await second.commit();
      expect(await store.read('outputs/fox/1.mp4')).toBe('short');
      expect((await openOn(store)).kept).toBe(0);
    });
  });
}
