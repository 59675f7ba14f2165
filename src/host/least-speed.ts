// Ends connections to slow peers: a peer that trickles its body, or does not read the answer, would hold its connection forever.
//
//      idle ──request──▶ body arrives ──whole──▶ our turn ──answer──▶ peer takes it ──▶ idle
//                          (timed)              (not timed)             (timed)

import type { IncomingMessage, Server, ServerResponse } from 'node:http';

export type LeastSpeed = {
  /** The fewest bytes of a body that must arrive within `withinMs`. An answer leaves in large pieces, so any progress suffices. */
  readonly bytes: number;
  readonly withinMs: number;
};

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The peer's duty at the last check; undefined if it was our turn. */
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

/** The end of a body may still arrive after its answer was sent. */
const isOver = ({ request, response }: Exchange): boolean =>
  request.socket.destroyed || (request.complete && response.closed);

function turnOf({ request, response }: Exchange): Turn | undefined {
  // Unread bytes show that this process is the slow one.
  if (!request.complete) return request.readableLength > 0 ? undefined : 'sends';
  return response.writableLength > 0 || request.socket.writableLength > 0 ? 'takes' : undefined;
}

const movedBy = ({ request: { socket } }: Exchange, turn: Turn | undefined): number =>
  turn === 'sends' ? socket.bytesRead : (socket.bytesWritten ?? 0) - socket.writableLength;
