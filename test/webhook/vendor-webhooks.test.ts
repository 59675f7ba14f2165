// Strangers at the door for vendors: the address of a message has to be well-formed only, so anybody may send to it.

import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { freeAddress } from '../stage/free-port.ts';
import { serve } from '../stage/serve.ts';
import { until } from '../stage/stage.ts';
import { opened } from './opened.ts';

const PATH = `/told/runpod/x/1/${'0'.repeat(32)}`;

it('strangers that never end their messages keep nobody out', async () => {
  const service = await serve((request, response) => {
    request.resume();
    response.writeHead(200).end();
  });
  const receiver = await opened({ serviceOrigins: () => [service.url] });
  onTestFinished(() => receiver.close());
  const strangers = Array.from({ length: 40 }, (): Socket => {
    const socket = connect(receiver.port, '127.0.0.1').on('error', () => undefined);
    socket.write(`POST ${PATH} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{`);
    return socket;
  });
  onTestFinished(() => strangers.forEach((socket) => socket.destroy()));
  await wait(300);
  const { status } = await fetch(receiver.url + PATH, { method: 'POST', body: '{"id":"j"}' });
  expect(status).toBe(200);
});

it('messages that are too many for the memory are cut off, and later ones are taken', async () => {
  const service = await serve((request, response) => {
    request.resume();
    response.writeHead(200).end();
  });
  const receiver = await opened({ serviceOrigins: () => [service.url] });
  onTestFinished(() => receiver.close());
  let closed = 0;
  const part = Buffer.alloc((1 << 20) - 10, 120);
  const strangers = Array.from({ length: 80 }, (): Socket => {
    const socket = connect(receiver.port, '127.0.0.1').on('error', () => undefined);
    socket.on('close', () => (closed += 1));
    socket.write(`POST ${PATH} HTTP/1.1\r\nhost: x\r\ncontent-length: ${1 << 20}\r\n\r\n`);
    socket.write(part);
    return socket;
  });
  await until(() => closed >= 10, 'the last ones are cut off');
  strangers.forEach((socket) => socket.destroy());
  const answers = async () =>
    fetch(receiver.url + PATH, { method: 'POST', body: 'x'.repeat(1 << 19) }).then(({ status }) => status);
  for (let times = 0; times < 80; times += 1) expect(await answers()).toBe(200);
});

it('a message is for the service that knows its address, also beside services that do not answer', async () => {
  const statusOf = async (statuses: readonly number[], gone: readonly string[] = []): Promise<number> => {
    const services = await Promise.all(
      statuses.map((status) => serve((_, response) => response.writeHead(status).end())),
    );
    const receiver = await opened({ serviceOrigins: () => [...gone, ...services.map(({ url }) => url)] });
    onTestFinished(() => receiver.close());
    return (await fetch(receiver.url + PATH, { method: 'POST', body: '{}' })).status;
  };
  const gone = `http://${await freeAddress()}`;
  expect([await statusOf([404, 200]), await statusOf([403, 200]), await statusOf([404, 404])]).toEqual([
    200, 403, 404,
  ]);
  expect([await statusOf([200], [gone]), await statusOf([404], [gone]), await statusOf([])]).toEqual([
    200, 503, 404,
  ]);
});
