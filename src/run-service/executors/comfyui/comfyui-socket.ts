// ComfyUI's websocket: what a run does right now. Its events are only hints; the queue and the history
// decide. A socket that never broke also proves that the server was not restarted, because its memory and the
// socket end together.

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ping, WebSocket, type Dispatcher } from 'undici';
import { z } from 'zod';
import type { SocketEvent, Listening } from '../backend.ts';
import { madeBy } from './comfyui-history.ts';
import { jsonIn } from '../http.ts';

type Address = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
};

const AGAIN_MS = { first: 500, most: 15_000 };
const PONG_MS = 5_000;

/** Reconnects until it is closed. */
export function listenToSocket(
  { url, headers, dispatcher }: Address,
  newClientId: () => string,
  on: (event: SocketEvent) => void,
): Listening {
  let socket: WebSocket | undefined;
  let timer: NodeJS.Timeout | undefined;
  let waitMs = AGAIN_MS.first;
  let isClosed = false;
  const connect = (): void => {
    const opened = new WebSocket(`${url.replace(/^http/, 'ws')}/ws?clientId=${newClientId()}`, {
      headers,
      dispatcher,
    });
    socket = opened;
    let wasOpen = false;
    opened.addEventListener('open', () => {
      [wasOpen, waitMs] = [true, AGAIN_MS.first];
      on({ kind: 'connected' });
    });
    opened.addEventListener('message', ({ data }) => {
      // Previews arrive as bytes.
      if (typeof data === 'string') for (const event of eventsIn(data)) on(event);
    });
    // Every error is followed by a close.
    opened.addEventListener('error', () => undefined);
    const closed = (): void => {
      if (isClosed || socket !== opened) return;
      socket = undefined;
      if (wasOpen) on({ kind: 'disconnected' });
      timer = setTimeout(connect, waitMs);
      waitMs = Math.min(waitMs * 2, AGAIN_MS.most);
    };
    opened.addEventListener('close', closed);
    over = () => {
      closed();
      opened.close();
    };
  };
  let over = (): void => undefined;
  connect();
  return {
    async isAlive() {
      const pinged = socket;
      if (pinged === undefined) return false;
      const isAnswered = await pong(pinged);
      if (!isAnswered && pinged === socket) over();
      return isAnswered;
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      socket?.close();
    },
  };
}

/** A machine that lost power closes no connection. */
async function pong(socket: WebSocket): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const hear = (message: unknown): void => {
    if ((message as { readonly websocket: unknown }).websocket === socket) resolve(true);
  };
  subscribe('undici:websocket:pong', hear);
  const timer = setTimeout(() => resolve(false), PONG_MS);
  socket.addEventListener('close', () => resolve(false));
  ping(socket);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    unsubscribe('undici:websocket:pong', hear);
  }
}

const messageSchema = z.object({ type: z.string(), data: z.record(z.string(), z.unknown()) });
const nodesSchema = z.record(z.string(), z.object({ value: z.number(), max: z.number(), state: z.string() }));

function eventsIn(text: string): readonly SocketEvent[] {
  const read = messageSchema.safeParse(jsonIn(text));
  if (!read.success) return [];
  const { type, data } = read.data;
  const id = typeof data['prompt_id'] === 'string' ? data['prompt_id'] : undefined;
  if (id === undefined) return type === 'status' ? [{ kind: 'changed' }] : [];
  const node = typeof data['node'] === 'string' ? data['node'] : undefined;
  switch (type) {
    case 'executing':
      return node === undefined ? [{ kind: 'changed' }] : [{ kind: 'work', id, node, progress: 0 }];
    case 'progress_state':
      return [{ kind: 'work', id, node: undefined, progress: shareOf(data['nodes']) }];
    case 'executed': {
      const output = z.record(z.string(), z.unknown()).safeParse(data['output']);
      return node === undefined || !output.success
        ? []
        : [{ kind: 'made', id, made: madeBy(node, output.data) }];
    }
    case 'execution_success':
      return [{ kind: 'success', id }, { kind: 'changed' }];
    default:
      return type.startsWith('execution_') ? [{ kind: 'changed' }] : [];
  }
}

/** The share of the running node's steps that is done. */
function shareOf(nodes: unknown): number {
  const read = nodesSchema.safeParse(nodes);
  const running = read.success ? Object.values(read.data).filter(({ state }) => state === 'running') : [];
  return running.reduce((most, { value, max }) => Math.max(most, max > 0 ? value / max : 0), 0);
}
