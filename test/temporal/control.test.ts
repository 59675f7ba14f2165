import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openControl, type Control, type FollowerWord } from '../../src/temporal/embedded/control.ts';

const LINGER_MS = 2_000;

describe('the hold on the embedded servers', () => {
  const onLast = vi.fn<() => void>();
  let control: Control;

  beforeEach(async () => {
    onLast.mockReset();
    const onHold = async () => ({ type: 'say', words: 'held' }) as const;
    control = await openControl({ onHold, onLast, onNow: () => undefined }, LINGER_MS);
  });
  afterEach(() => control.close());

  const say = (socket: Socket, word: FollowerWord) => socket.write(`${JSON.stringify(word)}\n`);
  const follow = async (): Promise<Socket> => {
    const socket = connect(control.port, '127.0.0.1');
    say(socket, { type: 'hold', word: control.word, service: false });
    await once(socket, 'data');
    return socket;
  };

  it('ends at once when the last follower says that it leaves', async () => {
    const [first, second] = [await follow(), await follow()];
    say(first, { type: 'leave' });
    await once(first, 'data');
    expect(onLast).not.toHaveBeenCalled();
    const left = Date.now();
    say(second, { type: 'leave' });
    await vi.waitFor(() => expect(onLast).toHaveBeenCalledOnce(), { interval: 5 });
    expect(Date.now() - left).toBeLessThan(LINGER_MS);
  });

  it('outlives a follower that was killed, for whoever types its command again', async () => {
    (await follow()).resetAndDestroy();
    await wait(LINGER_MS / 3);
    const second = await follow();
    await wait(LINGER_MS * 1.2);
    expect(onLast).not.toHaveBeenCalled();
    second.resetAndDestroy();
    await vi.waitFor(() => expect(onLast).toHaveBeenCalledOnce(), { timeout: 5_000 });
  });
});
