import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { demandSpeed } from '../../src/host/least-speed.ts';

const WINDOW_MS = 200;
const ENDS_MS = 5_000;

async function connected(answer: RequestListener): Promise<{ socket: Socket; ended: Promise<boolean> }> {
  const server = createServer(answer);
  demandSpeed(server, { bytes: 1_000, withinMs: WINDOW_MS });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  const closed = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)));
  return { socket, ended: Promise.race([closed, pause(ENDS_MS, false)]) };
}

const POST = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n';

/** Sends pieces of so many bytes until all have been sent, or the connection is closed. */
async function sendBody(socket: Socket, piece: number): Promise<void> {
  socket.write(POST);
  for (let sent = 0; sent < 100_000 && !socket.destroyed; sent += piece) {
    socket.write('x'.repeat(Math.min(piece, 100_000 - sent)));
    await pause(10);
  }
}

const answerWhole: RequestListener = (request, response) => {
  request.resume();
  request.on('end', () => response.end('whole'));
};

describe('a connection', () => {
  it('whose body trickles is closed', async () => {
    const { socket, ended } = await connected(answerWhole);
    void sendBody(socket, 1);
    expect(await ended).toBe(true);
  });

  it('whose body is slow and arrives is kept', async () => {
    const { socket } = await connected(answerWhole);
    const answered = once(socket, 'data');
    await sendBody(socket, 1_000);
    expect(String(await answered)).toContain('whole');
  });

  it('that takes no answer is closed', async () => {
    const { socket, ended } = await connected((_, response) => response.end(Buffer.alloc(64 << 20)));
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    // A socket that is not read does not learn of its end, and one that writes does.
    const writing = setInterval(() => socket.write('x'), 50);
    onTestFinished(() => clearInterval(writing));
    expect(await ended).toBe(true);
  });

  it('whose answer takes the server long is kept, and so is one that idles', async () => {
    const { socket } = await connected((_, response) => {
      response.write('first');
      setTimeout(() => response.end('last'), 3 * WINDOW_MS);
    });
    for (const time of ['once', 'again']) {
      socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
      let said = '';
      socket.on('data', (part: Buffer) => (said += part.toString()));
      await expect.poll(() => said, { timeout: ENDS_MS, message: time }).toContain('last');
      socket.removeAllListeners('data');
      await pause(3 * WINDOW_MS);
      expect(socket.destroyed).toBe(false);
    }
  });

  it('whose body the server does not take is kept', async () => {
    let request: Parameters<RequestListener>[0] | undefined;
    const { socket } = await connected((incoming) => void (request = incoming));
    socket.write(`${POST}${'x'.repeat(100)}`);
    await pause(4 * WINDOW_MS);
    expect([request?.readableLength, socket.destroyed]).toEqual([100, false]);
  });
});
