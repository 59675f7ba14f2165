import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/host/settings/config.ts';
import { followStack, readStack } from '../../src/temporal/embedded/follower.ts';
import { type StackRecord, writeRecord } from '../../src/temporal/embedded/stack-file.ts';
import { freshFolder } from '../stage/fresh-folder.ts';
import { serve, type Served } from '../stage/serve.ts';

const READY = { type: 'ready', address: '127.0.0.1:1', namespace: 'n' };
const ANSWER = 'the-answer-in-embedded-json';

describe('a command that finds another program on the port of its embedded servers', () => {
  let home = '';
  let server: Served;
  let received = '';
  let response = '';
  beforeEach(async () => {
    home = freshFolder();
    received = '';
    const stranger = createServer((socket) => {
      socket.on('data', (chunk) => {
        received += chunk.toString();
        socket.write(response);
      });
    });
    server = await serve(stranger);
    const control = { port: server.port, word: 'the-word', answer: ANSWER };
    writeRecord(home, { pid: process.pid, startedAt: new Date().toISOString(), control });
  });
  afterEach(() => server.close());

  const line = (news: object): string => `${JSON.stringify(news)}\n`;
  const follow = () => {
    const notices: string[] = [];
    const params = { config: loadConfig({ RUNSHEET_HOME: home }), service: false };
    return readStack({ ...params, notice: (text) => notices.push(text) }).then((stack) => ({
      stack,
      notices,
    }));
  };

  it('trusts the program that knows the answer', async () => {
    response = line({ type: 'held', answer: ANSWER }) + line({ type: 'notice', text: 'held' }) + line(READY);
    const { stack, notices } = await follow();
    expect(received).toContain('the-word');
    expect([stack?.temporal.address, notices]).toEqual(['127.0.0.1:1', ['held']]);
  });

  it.each([
    ['no answer', line({ type: 'notice', text: 'untrusted' }) + line(READY)],
    ['another answer', line({ type: 'held', answer: 'x' }) + line(READY)],
    ['null', 'null\n'],
    ['no JSON', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['a line without an end', 'x'.repeat(1 << 20)],
  ])('does not trust a program that sends %s', async (_what, bytes) => {
    response = bytes;
    expect(await follow()).toEqual({ stack: undefined, notices: [] });
  });
});

describe('a command that finds embedded servers of an earlier version', () => {
  const recorded = async (more: Partial<StackRecord>) => {
    const home = freshFolder();
    const held = `${JSON.stringify({ type: 'held', answer: ANSWER })}\n`;
    const server = await serve(createServer((socket) => socket.on('data', () => socket.write(held))));
    onTestFinished(server.close);
    const control = { port: server.port, word: 'the-word', answer: ANSWER };
    writeRecord(home, { pid: process.pid, startedAt: new Date().toISOString(), control, ...more });
    return followStack({
      config: loadConfig({ RUNSHEET_HOME: home }),
      service: false,
      notice: () => undefined,
    });
  };

  it('names the commands to stop, because they would start the servers again', async () => {
    await expect(recorded({ version: '0.0.9', reads: 1, followers: [4711, 4712] })).rejects.toMatchObject({
      code: 'E417',
      message: expect.stringContaining(`(pid ${process.pid}, version 0.0.9)`),
      hint: expect.stringContaining('kill 4711 4712;'),
    });
  });

  it('names the process of the servers if no command is known to keep them', async () => {
    await expect(recorded({})).rejects.toMatchObject({
      code: 'E417',
      message: expect.stringContaining(`(pid ${process.pid}, version unknown)`),
      hint: expect.stringContaining(`kill ${process.pid};`),
    });
  });
});
