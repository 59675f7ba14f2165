// Reads and writes JSON lines on a loopback socket. A schema validates each line; the first invalid one closes the connection,
// and nothing after it is read.

import type { Socket } from 'node:net';
import type { z } from 'zod';
import { jsonIn } from '../../errors/outside-text.ts';

/** Calls `onMessage` for each line. A line of more than `most` characters is invalid too. */
export function readJsonLines<T>(
  socket: Socket,
  { schema, most }: { readonly schema: z.ZodType<T>; readonly most: number },
  onMessage: (message: T) => void,
): void {
  let partial = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    const lines = `${partial}${chunk}`.split('\n');
    partial = lines.pop() ?? '';
    for (const line of lines) {
      if (socket.destroyed) return;
      const parsed = schema.safeParse(line.length > most ? undefined : jsonIn(line));
      if (parsed.success) onMessage(parsed.data);
      else socket.destroy();
    }
    if (partial.length > most) socket.destroy();
  });
}

export const writeJsonLine = (socket: Socket, message: unknown): void =>
  void (socket.writable && socket.write(`${JSON.stringify(message)}\n`));
