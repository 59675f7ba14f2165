// A TCP proxy that simulates a network failure between two processes. While it is cut with silence, nothing gets
// through, and the data arrives after the repair, even if its sender has timed out. While it is cut with resets, all
// connections break.

import { connect, createServer, type Socket } from 'node:net';
import { serve } from './serve.ts';

export type Wire = {
  /** Replaces the `host:port` of the far end. */
  readonly address: string;
  readonly cut: (how: Cut) => void;
  readonly repair: () => void;
  readonly close: () => Promise<void>;
};

/** `silence` holds back all data, `resets` breaks every connection. */
export type Cut = 'silence' | 'resets';

/** `to` is `host:port`. */
export async function openWire(to: string, atPort = 0): Promise<Wire> {
  const [host = '', port = ''] = to.split(':');
  const sockets = new Set<Socket>();
  let cut: Cut | undefined;

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay(true);
    // The `close` event passes the failure on to the other end.
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    if (cut === 'silence') socket.pause();
  };
  const join = (from: Socket, socket: Socket): void => {
    from.on('data', (bytes: Buffer) => socket.write(bytes));
    from.on('end', () => socket.end());
    from.on('close', (failed) => failed && socket.resetAndDestroy());
  };
  const pass = (near: Socket): void => {
    if (cut === 'resets') return void near.on('error', () => undefined).resetAndDestroy();
    const far = connect({ host, port: Number(port), allowHalfOpen: true });
    join(near, far);
    join(far, near);
    keep(near);
    keep(far);
  };

  const { port: near, close } = await serve(createServer({ allowHalfOpen: true }, pass), atPort);
  return {
    address: `127.0.0.1:${near}`,
    cut: (how) => {
      cut = how;
      for (const socket of sockets)
        if (how === 'silence') socket.pause();
        else socket.resetAndDestroy();
    },
    repair: () => {
      cut = undefined;
      for (const socket of sockets) socket.resume();
    },
    close: async () => {
      close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
