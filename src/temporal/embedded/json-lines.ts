// Lines of JSON on a loopback socket. Each line is checked by a schema; the first one that does not fit closes the
// connection, and nothing after it is read.

import type { Socket } from 'node:net';
import type { z } from 'zod';

/** Calls `hear` for each line. A line of more than `most` characters does not fit either. */
export function readJsonLines<T>(
  socket: Socket,
  { schema, most }: { readonly schema: z.ZodType<T>; readonly most: number },
  hear: (word: T) => void,
): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (socket.destroyed) return;
      const parsed = schema.safeParse(line.length > most ? undefined : jsonOf(line));
      if (parsed.success) hear(parsed.data);
      else socket.destroy();
    }
    if (rest.length > most) socket.destroy();
  });
}

export const writeJsonLine = (socket: Socket, word: unknown): void =>
  void (socket.writable && socket.write(`${JSON.stringify(word)}\n`));

/** undefined, which fits no schema, where the line is not JSON. */
function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
