// Reads and writes JSON lines on a loopback socket. A schema validates each line; the first invalid one closes the connection,
// and nothing after it is read.

import type { Socket } from 'node:net';
import type { z } from 'zod';

/** Calls `onMessage` for each line. A line of more than `most` characters is invalid too. */
export function readJsonLines<T>(
  socket: Socket,
  { schema, most }: { readonly schema: z.ZodType<T>; readonly most: number },
  onMessage: (message: T) => void,
): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (socket.destroyed) return;
      const parsed = schema.safeParse(line.length > most ? undefined : jsonOf(line));
      if (parsed.success) onMessage(parsed.data);
      else socket.destroy();
    }
    if (rest.length > most) socket.destroy();
  });
}

export const writeJsonLine = (socket: Socket, message: unknown): void =>
  void (socket.writable && socket.write(`${JSON.stringify(message)}\n`));

/** undefined, which no schema accepts, if the line is not JSON. */
function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
