import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DownloadSlots } from '../../activities/download-slots.ts';

const { signal: LASTING } = new AbortController();

/** Downloads that end on command. */
class Downloads {
  readonly slots: DownloadSlots;
  readonly #open: { readonly batch: string; readonly end: () => void }[] = [];

  constructor(shared: number, own: number) {
    this.slots = new DownloadSlots(shared, own);
  }

  start(batch: string, signal = LASTING): Promise<void> {
    return this.slots.run(batch, signal, async () => {
      const over = Promise.withResolvers<void>();
      this.#open.push({ batch, end: over.resolve });
      await over.promise;
    });
  }

  running(batch: string): number {
    return this.#open.filter((download) => download.batch === batch).length;
  }

  get all(): number {
    return this.#open.length;
  }

  async end(batch: string): Promise<void> {
    const at = this.#open.findIndex((download) => download.batch === batch);
    if (at >= 0) this.#open.splice(at, 1)[0]?.end();
    await settled();
  }
}

/** All that follows from promises that are resolved by now. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('slots of downloads', () => {
  it('a batch whose downloads do not end leaves every other batch some, although it has taken all', async () => {
    const downloads = new Downloads(6, 2);
    for (let count = 0; count < 20; count += 1) void downloads.start('slow');
    for (let count = 0; count < 4; count += 1) void downloads.start('quick');
    await settled();
    expect([downloads.running('slow'), downloads.running('quick')]).toEqual([6, 2]);
    await downloads.end('quick');
    expect([downloads.running('slow'), downloads.running('quick')]).toEqual([6, 2]);
  });

  it('a slot that becomes free goes to the batch that has the fewest', async () => {
    const downloads = new Downloads(4, 1);
    for (let count = 0; count < 8; count += 1) void downloads.start('first');
    for (let count = 0; count < 8; count += 1) void downloads.start('second');
    await settled();
    expect([downloads.running('first'), downloads.running('second')]).toEqual([4, 1]);
    await downloads.end('first');
    await downloads.end('first');
    expect([downloads.running('first'), downloads.running('second')]).toEqual([2, 2]);
  });

  it('a download that is no longer wanted stops waiting, and takes no slot', async () => {
    const downloads = new Downloads(1, 1);
    void downloads.start('one');
    const stopping = new AbortController();
    const waiting = downloads.start('one', stopping.signal);
    stopping.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    await expect(downloads.start('one', stopping.signal)).rejects.toThrow('stopped');
    await downloads.end('one');
    expect(downloads.all).toBe(0);
    void downloads.start('one');
    await settled();
    expect(downloads.all).toBe(1);
  });

  it('never has more than the shared ones and the own ones of each batch, and none waits while its batch may have one', async () => {
    const step = fc.record({ batch: fc.constantFrom('a', 'b', 'c'), starts: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const downloads = new Downloads(5, 2);
        const wanted: Record<string, number> = {};
        for (const { batch, starts } of steps) {
          if (starts) {
            void downloads.start(batch);
            wanted[batch] = (wanted[batch] ?? 0) + 1;
            await settled();
          } else if (downloads.running(batch) > 0) {
            await downloads.end(batch);
            wanted[batch] = (wanted[batch] ?? 0) - 1;
          }
          expect(downloads.all).toBeLessThanOrEqual(5 + 3 * 2);
          for (const [name, count] of Object.entries(wanted))
            expect(downloads.running(name)).toBeGreaterThanOrEqual(Math.min(count, 2));
          const total = Object.values(wanted).reduce((sum, count) => sum + count, 0);
          expect(downloads.all).toBeGreaterThanOrEqual(Math.min(total, 5));
        }
      }),
    );
  });
});
