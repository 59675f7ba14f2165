import { describe, expect, it } from 'vitest';
import { Outbox, type Delivered } from '../../src/webhook/outbox.ts';

/** An outbox whose signals are answered when the test says so. */
function opened(most = 500) {
  const signals: {
    readonly news: readonly number[];
    answer(delivered: Delivered): void;
    fail(error: Error): void;
  }[] = [];
  let next: (() => void) | undefined;
  const outbox = new Outbox<number>((_, news) => {
    const { promise, resolve, reject } = Promise.withResolvers<Delivered>();
    signals.push({ news, answer: resolve, fail: reject });
    next?.();
    return promise;
  }, most);
  const nth = async (at: number): Promise<(typeof signals)[number]> => {
    for (;;) {
      const signal = signals[at];
      if (signal !== undefined) return signal;
      await new Promise<void>((heard) => (next = heard));
    }
  };
  return { outbox, signals, nth };
}

describe('an outbox', () => {
  it('sends lone news at once', () => {
    const { outbox, signals } = opened();
    void outbox.deliver('b', 1);
    expect(signals.map(({ news }) => news)).toEqual([[1]]);
  });

  it('sends what comes meanwhile together, once the first is answered', async () => {
    const { outbox, signals, nth } = opened();
    const all = [1, 2, 3, 4].map((news) => outbox.deliver('b', news));
    (await nth(0)).answer('taken');
    (await nth(1)).answer('taken');
    await Promise.all(all);
    expect(signals.map(({ news }) => news)).toEqual([[1], [2, 3, 4]]);
  });

  it('has at most so many pieces in a signal', async () => {
    const { outbox, signals, nth } = opened(2);
    const all = [1, 2, 3, 4].map((news) => outbox.deliver('b', news));
    for (const at of [0, 1, 2]) (await nth(at)).answer('taken');
    await Promise.all(all);
    expect(signals.map(({ news }) => news)).toEqual([[1], [2, 3], [4]]);
  });

  it('lets no batch wait for another', async () => {
    const { outbox, signals } = opened();
    void outbox.deliver('slow', 1);
    void outbox.deliver('quick', 2);
    expect(signals.map(({ news }) => news)).toEqual([[1], [2]]);
  });

  it('tells each sender what became of its news', async () => {
    const { outbox, nth } = opened();
    const first = outbox.deliver('b', 1);
    const second = outbox.deliver('b', 2);
    (await nth(0)).answer('gone');
    await expect(first).resolves.toBe('gone');
    (await nth(1)).fail(new Error('away'));
    await expect(second).rejects.toThrow('away');
  });

  it('goes on after a signal that failed', async () => {
    const { outbox, nth } = opened();
    const first = outbox.deliver('b', 1);
    (await nth(0)).fail(new Error('away'));
    await expect(first).rejects.toThrow('away');
    const again = outbox.deliver('b', 1);
    (await nth(1)).answer('taken');
    await expect(again).resolves.toBe('taken');
  });

  it('takes a rider along with the next signal, and lets it go at once where none is due', async () => {
    const { outbox, signals, nth } = opened();
    await outbox.ride('b');
    void outbox.deliver('b', 1);
    const all = outbox.deliver('b', 2);
    let left = 0;
    const ridden = outbox.ride('b').then(() => (left = signals.length));
    (await nth(0)).answer('taken');
    await ridden;
    expect(left).toBe(2);
    (await nth(1)).answer('taken');
    await all;
  });
});
