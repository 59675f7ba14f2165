import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Control,
  type ControlHandlers,
  type FollowerMessage,
  openControl,
  STACK_MESSAGES,
  type StackMessage,
} from '../../src/temporal/embedded/control-port.ts';
import { readJsonLines } from '../../src/temporal/embedded/json-lines.ts';

const LINGER_MS = 2_000;
const WORD_MS = 300;

describe('the control port of the embedded servers', () => {
  const onLast = vi.fn<() => void>();
  const onNow = vi.fn<() => void>();
  const onHold = vi.fn<ControlHandlers['onHold']>();
  const onWork = vi.fn<() => void>();
  const onRest = vi.fn<() => Promise<void>>();
  const onChange = vi.fn<() => void>();
  let control: Control;

  beforeEach(async () => {
    for (const called of [onLast, onNow, onHold, onWork, onRest, onChange]) called.mockReset();
    onHold.mockResolvedValue({ type: 'notice', text: 'held' });
    onRest.mockResolvedValue();
    const handlers = { onHold, onLast, onNow, onWork, onRest, onChange };
    control = await openControl(handlers, { lingerMs: LINGER_MS, wordWithinMs: WORD_MS });
  });
  afterEach(() => control.close());

  const send = (socket: Socket, message: FollowerMessage) => socket.write(`${JSON.stringify(message)}\n`);
  const follow = async (keeps = true, works = true): Promise<Socket> => {
    const socket = connect(control.port, '127.0.0.1');
    const answers: StackMessage[] = [];
    readJsonLines(socket, STACK_MESSAGES, (news) => answers.push(news));
    send(socket, { type: 'hold', word: control.word, service: false, keeps, stays: false, works });
    await vi.waitFor(() => expect(answers.at(-1)?.type).toBe('notice'), { interval: 2 });
    expect(answers[0]).toEqual({ type: 'held', answer: control.answer });
    return socket;
  };

  it('ends immediately when the last follower leaves', async () => {
    const [first, second] = [await follow(), await follow()];
    send(first, { type: 'leave' });
    await once(first, 'data');
    expect(onLast).not.toHaveBeenCalled();
    const left = Date.now();
    send(second, { type: 'leave' });
    await vi.waitFor(() => expect(onLast).toHaveBeenCalledOnce(), { interval: 5 });
    expect(Date.now() - left).toBeLessThan(LINGER_MS);
  });

  it('ends when its last keeper leaves, though a reader is connected, and a reader that leaves ends nothing', async () => {
    const keeper = await follow();
    const readers = [await follow(false), await follow(false)] as const;
    send(readers[0], { type: 'leave' });
    await once(readers[0], 'data');
    readers[1].resetAndDestroy();
    await wait(LINGER_MS * 1.2);
    expect(onLast).not.toHaveBeenCalled();
    await follow(false);
    send(keeper, { type: 'leave' });
    await vi.waitFor(() => expect(onLast).toHaveBeenCalledOnce(), { interval: 5 });
  });

  it('outlives a killed follower, so that the user can repeat the command', async () => {
    (await follow()).resetAndDestroy();
    await wait(LINGER_MS / 3);
    const second = await follow();
    await wait(LINGER_MS * 1.2);
    expect(onLast).not.toHaveBeenCalled();
    second.resetAndDestroy();
    await vi.waitFor(() => expect(onLast).toHaveBeenCalledOnce(), { timeout: 5_000 });
  });

  it('proves itself to a follower before it tells what changes for that follower', async () => {
    onWork.mockImplementation(() => control.broadcast({ type: 'working' }));
    await follow();
    expect(onWork).toHaveBeenCalledOnce();
  });

  it('lets batches go on for the first follower that wants it, not for one that looks', async () => {
    const looker = await follow(true, false);
    await follow(false, true);
    expect(onWork).not.toHaveBeenCalled();
    await follow();
    await follow();
    expect(onWork).toHaveBeenCalledOnce();
    send(looker, { type: 'work' });
    await wait(50);
    expect(onWork).toHaveBeenCalledOnce();
  });

  it('lets batches stand still when the last follower that wanted them leaves, and then answers it', async () => {
    const resting = Promise.withResolvers<void>();
    onRest.mockReturnValue(resting.promise);
    await follow(true, false);
    const [first, second] = [await follow(), await follow()];
    send(first, { type: 'leave' });
    await once(first, 'data');
    expect(onRest).not.toHaveBeenCalled();
    send(second, { type: 'leave' });
    await vi.waitFor(() => expect(onRest).toHaveBeenCalledOnce(), { interval: 5 });
    const left = once(second, 'data');
    await expect(Promise.race([left, wait(100, 'waits')])).resolves.toBe('waits');
    resting.resolve();
    expect(String(await left)).toContain('left');
    expect(onLast).not.toHaveBeenCalled();
  });

  it('lets batches go on for a while after a kill of the last follower that wanted them, and beyond if it comes back', async () => {
    await follow(true, false);
    (await follow()).resetAndDestroy();
    await wait(LINGER_MS / 3);
    const second = await follow();
    await wait(LINGER_MS * 1.2);
    expect(onRest).not.toHaveBeenCalled();
    second.resetAndDestroy();
    await vi.waitFor(() => expect(onRest).toHaveBeenCalledOnce(), { timeout: 5_000 });
  });

  it('tells whether a follower keeps the servers until its user stops it', async () => {
    onHold.mockImplementation(async ({ isKept: kept }) => ({
      type: 'ready',
      address: 'a:1',
      namespace: 'n',
      isKept: kept,
    }));
    const isKept = async (stays?: boolean): Promise<readonly [unknown, Socket]> => {
      const socket = connect(control.port, '127.0.0.1');
      const answers: StackMessage[] = [];
      readJsonLines(socket, STACK_MESSAGES, (news) => answers.push(news));
      send(socket, {
        type: 'hold',
        word: control.word,
        service: false,
        keeps: true,
        ...(stays && { stays }),
      } as FollowerMessage);
      await vi.waitFor(() => expect(answers.at(-1)?.type).toBe('ready'), { interval: 2 });
      return [(answers.at(-1) as { isKept?: boolean }).isKept, socket];
    };
    expect((await isKept())[0]).toBe(false);
    const [, dev] = await isKept(true);
    expect((await isKept())[0]).toBe(true);
    send(dev, { type: 'leave' });
    await vi.waitFor(async () => expect((await isKept())[0]).toBe(false), { interval: 5 });
  });

  const hold = (word: string) => JSON.stringify({ type: 'hold', word, service: false, keeps: true });
  /** Sends bytes in one write; resolves with the answer when the stack has closed the connection. */
  const answerTo = async (bytes: string | Buffer): Promise<string> => {
    const socket = connect(control.port, '127.0.0.1').on('error', () => undefined);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    if (bytes.length > 0) socket.write(bytes);
    await new Promise((done) => socket.once('close', done));
    return answer;
  };

  it.each([
    ['null', 'null\n'],
    ['a number', '42\n'],
    ['a list', '[]\n'],
    ['an empty line', '\n'],
    ['no JSON', 'hello\n'],
    ['a command without the word', '{"type":"now"}\n'],
    ['another word', '{"type":"hold","word":"0","service":false}\n'],
    ['a word that is not text', '{"type":"hold","word":{"length":32},"service":false}\n'],
    ['an HTTP request', 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n{"type":"now"}\n'],
    ['bytes that are not text', Buffer.from([0xff, 0x00, 0x16, 0x03, 0x01, 0x0a])],
    ['a line without an end', 'x'.repeat(1 << 20)],
  ])('only closes an unauthenticated connection that sends %s', async (_what, bytes) => {
    expect(await answerTo(bytes)).toBe('');
    const follower = await follow();
    expect(follower.readyState).toBe('open');
    expect(onHold).toHaveBeenCalledOnce();
    for (const called of [onLast, onNow]) expect(called).not.toHaveBeenCalled();
  });

  it('ignores everything after an invalid line, even if it is valid', async () => {
    expect(await answerTo(`null\n${hold(control.word)}\n{"type":"now"}\n`)).toBe('');
    expect(onHold).not.toHaveBeenCalled();
    expect(onNow).not.toHaveBeenCalled();
  });

  it('treats a follower that sends an invalid line like a killed one', async () => {
    const follower = await follow();
    follower.write('null\n{"type":"now"}\n');
    await once(follower, 'close');
    expect(onNow).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(onLast).toHaveBeenCalledOnce(), { timeout: 5_000 });
  });

  it('closes connections that never send the word, and keeps one that has sent it', async () => {
    const follower = await follow();
    const began = performance.now();
    expect(await answerTo('')).toBe('');
    expect(performance.now() - began).toBeLessThan(WORD_MS + 1_000);
    expect(follower.readyState).toBe('open');
  });

  it('accepts a follower however many unauthenticated connections there are', async () => {
    const strangers = await Promise.all(
      Array.from({ length: 500 }, async () => {
        const socket = connect(control.port, '127.0.0.1').on('error', () => undefined);
        await once(socket, 'connect');
        return socket;
      }),
    );
    const began = performance.now();
    expect((await follow()).readyState).toBe('open');
    expect(performance.now() - began).toBeLessThan(1_000);
    await vi.waitFor(() => expect(strangers.filter(({ closed }) => !closed).length).toBeLessThan(257), {
      timeout: 5_000,
    });
    for (const socket of strangers) socket.destroy();
  });
});
