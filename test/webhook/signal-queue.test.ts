import { describe, expect, it } from 'vitest';
import type { Delivered } from '../../src/batch/signals.ts';
import { SignalQueue } from '../../src/webhook/signal-queue.ts';

/** A queue whose signals the test answers. */
function opened(most = 500) {
  const signals: {
    readonly messages: readonly number[];
    answer(delivered: Delivered): void;
    fail(error: Error): void;
  }[] = [];
  let next: (() => void) | undefined;
  const queue = new SignalQueue<number>((_, messages) => {
    const { promise, resolve, reject } = Promise.withResolvers<Delivered>();
    signals.push({ messages, answer: resolve, fail: reject });
    next?.();
    return promise;
  }, most);
  const nth = async (at: number): Promise<(typeof signals)[number]> => {
    for (;;) {
      const signal = signals[at];
      if (signal !== undefined) return signal;
      await new Promise<void>((acknowledged) => (next = acknowledged));
    }
  };
  return { queue, signals, nth };
}

const B = { batch: 'b', mark: '0123456789abcdef' };

describe('a queue of signals', () => {
  it('sends a single message immediately', () => {
    const { queue, signals } = opened();
    void queue.deliver(B, 1);
    expect(signals.map(({ messages }) => messages)).toEqual([[1]]);
  });

  it('sends messages that arrive meanwhile together, once the first signal is answered', async () => {
    const { queue, signals, nth } = opened();
    const all = [1, 2, 3, 4].map((message) => queue.deliver(B, message));
    (await nth(0)).answer('taken');
    (await nth(1)).answer('taken');
    await Promise.all(all);
    expect(signals.map(({ messages }) => messages)).toEqual([[1], [2, 3, 4]]);
  });

  it('limits the number of messages in a signal', async () => {
    const { queue, signals, nth } = opened(2);
    const all = [1, 2, 3, 4].map((message) => queue.deliver(B, message));
    for (const at of [0, 1, 2]) (await nth(at)).answer('taken');
    await Promise.all(all);
    expect(signals.map(({ messages }) => messages)).toEqual([[1], [2, 3], [4]]);
  });

  it('never delays one batch because of another', async () => {
    const { queue, signals } = opened();
    void queue.deliver({ batch: 'slow', mark: 'm' }, 1);
    void queue.deliver({ batch: 'quick', mark: 'm' }, 2);
    expect(signals.map(({ messages }) => messages)).toEqual([[1], [2]]);
  });

  it('returns the result of the signal to each sender', async () => {
    const { queue, nth } = opened();
    const first = queue.deliver(B, 1);
    const second = queue.deliver(B, 2);
    (await nth(0)).answer('gone');
    await expect(first).resolves.toBe('gone');
    (await nth(1)).fail(new Error('away'));
    await expect(second).rejects.toThrow('away');
  });

  it('continues after a failed signal', async () => {
    const { queue, nth } = opened();
    const first = queue.deliver(B, 1);
    (await nth(0)).fail(new Error('away'));
    await expect(first).rejects.toThrow('away');
    const again = queue.deliver(B, 1);
    (await nth(1)).answer('taken');
    await expect(again).resolves.toBe('taken');
  });

  it('lets callers wait for the next signal, and not at all if none is queued', async () => {
    const { queue, signals, nth } = opened();
    await queue.nextSignal(B);
    void queue.deliver(B, 1);
    const all = queue.deliver(B, 2);
    let left = 0;
    const ridden = queue.nextSignal(B).then(() => (left = signals.length));
    (await nth(0)).answer('taken');
    await ridden;
    expect(left).toBe(2);
    (await nth(1)).answer('taken');
    await all;
  });
});
