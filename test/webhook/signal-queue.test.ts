import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Delivered } from '../../src/batch/events.ts';
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
    const deliveries = [1, 2, 3, 4].map((message) => queue.deliver(B, message));
    (await nth(0)).answer('taken');
    (await nth(1)).answer('taken');
    await Promise.all(deliveries);
    expect(signals.map(({ messages }) => messages)).toEqual([[1], [2, 3, 4]]);
  });

  it('limits the number of messages in a signal', async () => {
    const { queue, signals, nth } = opened(2);
    const deliveries = [1, 2, 3, 4].map((message) => queue.deliver(B, message));
    for (const at of [0, 1, 2]) (await nth(at)).answer('taken');
    await Promise.all(deliveries);
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

  it('holds a message that may wait until enough of them are held', async () => {
    const { queue, signals, nth } = opened();
    const hold = { mostMs: 60_000, isEnough: (held: number) => held >= 3 };
    const deliveries = [1, 2, 3].map((message) => queue.deliver(B, message, hold));
    expect(signals.map(({ messages }) => messages)).toEqual([[1, 2, 3]]);
    (await nth(0)).answer('taken');
    await expect(Promise.all(deliveries)).resolves.toEqual(['taken', 'taken', 'taken']);
  });

  it('holds a message no longer than it may wait, even if later ones may wait longer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { queue, signals } = opened();
    const isEnough = () => false;
    void queue.deliver(B, 1, { mostMs: 1_000, isEnough });
    await vi.advanceTimersByTimeAsync(900);
    void queue.deliver(B, 2, { mostMs: 10_000, isEnough });
    expect(signals).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(100);
    expect(signals.map(({ messages }) => messages)).toEqual([[1, 2]]);
  });

  it('sends what is held as soon as it is enough, although no other message comes', () => {
    const { queue, signals } = opened();
    let waiting = 5;
    void queue.deliver(B, 1, { mostMs: 60_000, isEnough: (held) => held >= waiting });
    queue.review(B);
    expect(signals).toEqual([]);
    waiting = 1;
    queue.review(B);
    expect(signals.map(({ messages }) => messages)).toEqual([[1]]);
  });

  it('sends what it holds with the next message that may not wait', () => {
    const { queue, signals } = opened();
    void queue.deliver(B, 1, { mostMs: 60_000, isEnough: () => false });
    void queue.deliver(B, 2);
    expect(signals.map(({ messages }) => messages)).toEqual([[1, 2]]);
  });

  it('sends the messages of a burst in one signal, as soon as none is expected any more', async () => {
    const { queue, signals, nth } = opened();
    const [first, second] = [queue.expect(B), queue.expect(B)];
    first();
    void queue.deliver(B, 1);
    expect(signals).toEqual([]);
    second();
    void queue.deliver(B, 2);
    expect((await nth(0)).messages).toEqual([1, 2]);
  });

  it('does not wait for an expected message that does not come soon, nor for those of another batch', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { queue, signals } = opened();
    queue.expect(B);
    void queue.deliver(B, 1);
    void queue.deliver({ batch: 'other', mark: 'm' }, 2);
    expect(signals.map(({ messages }) => messages)).toEqual([[2]]);
    await vi.advanceTimersByTimeAsync(20);
    expect(signals.map(({ messages }) => messages)).toEqual([[2], [1]]);
  });

  it('sends a lone message immediately, and waits for others where they came together lately', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { queue, signals, nth } = opened();
    const burst = async (...messages: readonly number[]): Promise<void> => {
      const before = signals.length;
      for (const message of messages) void queue.deliver(B, message);
      for (let sent = before; sent < before + 2; sent += 1) {
        await vi.advanceTimersByTimeAsync(200);
        if (signals.length > sent) (await nth(sent)).answer('taken');
      }
      await vi.advanceTimersByTimeAsync(200);
    };
    await burst(1, 2, 3, 4, 5, 6, 7, 8);
    expect(signals.map(({ messages }) => messages)).toEqual([[1], [2, 3, 4, 5, 6, 7, 8]]);
    await burst(11, 12, 13, 14);
    expect(signals.slice(2).map(({ messages }) => messages)).toEqual([[11, 12, 13, 14]]);
    for (const lone of [21, 22, 23]) await burst(lone);
    void queue.deliver(B, 31);
    expect(signals.at(-1)?.messages).toEqual([31]);
  });

  it('sends what it holds of a batch that is gone too, and closing waits for it', async () => {
    const { queue, nth } = opened();
    void queue.deliver(B, 1);
    const held = queue.deliver(B, 2, { mostMs: 60_000, isEnough: () => false });
    (await nth(0)).answer('gone');
    const second = await nth(1);
    expect(second.messages).toEqual([2]);
    let isClosed = false;
    const closed = queue.close().then(() => (isClosed = true));
    expect(isClosed).toBe(false);
    second.answer('gone');
    await expect(held).resolves.toBe('gone');
    await closed;
  });

  it('forgets a batch that was not used for long before an older one that is still used', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { queue, signals, nth } = opened();
    for (const message of [1, 2, 3, 4, 5, 6, 7, 8]) void queue.deliver(B, message);
    for (const at of [0, 1]) {
      (await nth(at)).answer('taken');
      await vi.advanceTimersByTimeAsync(200);
    }
    for (let n = 0; n < 1_500; n += 1) {
      if (n % 500 === 0) queue.expect(B)();
      queue.expect({ batch: `other-${n}`, mark: 'm' })();
    }
    // The queue still knows that the messages of this batch come together.
    for (const message of [11, 12]) void queue.deliver(B, message);
    await vi.advanceTimersByTimeAsync(200);
    expect(signals.slice(2).map(({ messages }) => messages)).toEqual([[11, 12]]);
  });

  it('forgets the oldest batches without messages, and never one with some', async () => {
    const { queue, nth } = opened();
    const otherBatch = (n: number) => ({ batch: `other-${n}`, mark: 'm' });
    void queue.deliver(B, 1);
    const held = queue.deliver(B, 2, { mostMs: 60_000, isEnough: () => false });
    for (let n = 0; n < 1_500; n += 1) queue.expect(otherBatch(n))();
    (await nth(0)).answer('taken');
    queue.review(B);
    void queue.deliver(B, 3);
    (await nth(1)).answer('taken');
    await expect(held).resolves.toBe('taken');
    expect((await nth(1)).messages).toEqual([2, 3]);
  });

  it('sends what it holds when it is closed, and holds nothing afterwards', async () => {
    const { queue, signals, nth } = opened();
    const hold = { mostMs: 60_000, isEnough: () => false };
    const held = queue.deliver(B, 1, hold);
    let isClosed = false;
    const closed = queue.close().then(() => (isClosed = true));
    expect(isClosed).toBe(false);
    (await nth(0)).answer('taken');
    await expect(held).resolves.toBe('taken');
    await closed;
    void queue.deliver(B, 2, hold);
    expect(signals.map(({ messages }) => messages)).toEqual([[1], [2]]);
  });
});
