// Strangers below /told of an exposed service: the address is checked before a body is read.

import { connect } from 'node:net';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { OwnService } from '../comfy/own-service.ts';

it('a stranger is refused before the body arrives', async () => {
  const own = await OwnService.of([]);
  const { port } = new URL(own.service.url);
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write(
    `POST /told/fal/x/1/${'0'.repeat(32)} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: text/plain\r\ncontent-length: ${1 << 19}\r\n\r\n{`,
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 404 [^]*connection: close/i);
}, 5_000);
