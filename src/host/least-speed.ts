// Ends connections whose peer is too slow: one that trickles its body, or takes no answer, would hold its connection for ever.
//
//      idle ──request──▶ body arrives ──whole──▶ our turn ──answer──▶ peer takes it ──▶ idle
//                          (timed)              (not timed)             (timed)

import type { IncomingMessage, Server, ServerResponse } from 'node:http';

export type LeastSpeed = {
  /** How many bytes of a body must arrive within this time. Of an answer, only some must be taken: it leaves in large pieces. */
  readonly bytes: number;
  readonly withinMs: number;
};

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** What the peer had to do when it was looked at last; undefined if it was our turn. */
  turn?: Turn | undefined;
  moved: number;
};

type Turn = 'sends' | 'takes';

export function demandSpeed(server: Server, { bytes, withinMs }: LeastSpeed): void {
  const exchanges = new Set<Exchange>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const exchange: Exchange = { request, response, moved: 0 };
    exchanges.add(exchange);
  });
  const look = (): void => {
    for (const exchange of exchanges) {
      if (isOver(exchange)) exchanges.delete(exchange);
      const turn = turnOf(exchange);
      const moved = movedBy(exchange, turn);
      const least = turn === 'sends' ? bytes : 1;
      if (turn !== undefined && turn === exchange.turn && moved - exchange.moved < least)
        exchange.request.socket.destroy();
      Object.assign(exchange, { turn, moved });
    }
  };
  const timer = setInterval(look, withinMs).unref();
  server.once('close', () => clearInterval(timer));
}

/** The rest of a body may still arrive when its answer has been sent. */
const isOver = ({ request, response }: Exchange): boolean =>
  request.socket.destroyed || (request.complete && response.closed);

function turnOf({ request, response }: Exchange): Turn | undefined {
  // Bytes that wait here show that it is we who are slow.
  if (!request.complete) return request.readableLength > 0 ? undefined : 'sends';
  return response.writableLength > 0 || request.socket.writableLength > 0 ? 'takes' : undefined;
}

const movedBy = ({ request: { socket } }: Exchange, turn: Turn | undefined): number =>
  turn === 'sends' ? socket.bytesRead : (socket.bytesWritten ?? 0) - socket.writableLength;
