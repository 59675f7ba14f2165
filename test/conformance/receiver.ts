// Receives the cases' webhooks: one server, with one address per case.

import { text } from 'node:stream/consumers';
import { serve } from '../stage/serve.ts';

/** An object of a JSON body. */
export type Json = Record<string, unknown>;

export type Received = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Json;
};

type Inbox = {
  readonly url: string;
  readonly received: readonly Received[];
  /** Resolves with all received webhooks as soon as `enough` is true for them. */
  until(enough: (received: readonly Received[]) => boolean): Promise<readonly Received[]>;
};

export type Inboxes = {
  /** `answer` returns the status for a received webhook. */
  open(answer?: (received: Received, all: readonly Received[]) => number): Inbox;
  readonly close: () => void;
};

type Box = { readonly take: (received: Received) => number };

export async function openInboxes(patienceMs: number): Promise<Inboxes> {
  const boxes = new Map<string, Box>();
  const { url: base, close } = await serve(async (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const body = JSON.parse((await text(incoming)) || '{}') as Json;
    const box = boxes.get(url.split(/[/?]/)[1] ?? '');
    outgoing.writeHead(box?.take({ method, url, headers, body }) ?? 404).end();
  });

  return {
    open(answer = () => 200) {
      const name = `box-${boxes.size + 1}`;
      const { inbox, take } = createInbox(`${base}/${name}`, patienceMs, answer);
      boxes.set(name, { take });
      return inbox;
    },
    close,
  };
}

function createInbox(
  url: string,
  patienceMs: number,
  answer: (received: Received, all: readonly Received[]) => number,
): { readonly inbox: Inbox } & Box {
  const received: Received[] = [];
  const looks = new Set<() => void>();
  const until: Inbox['until'] = (enough) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!enough(received)) return;
        looks.delete(look);
        clearTimeout(givingUp);
        resolve(received);
      };
      const givingUp = setTimeout(() => {
        looks.delete(look);
        const seen = received
          .map((webhook) => `${webhook.method} ${String(webhook.body['status'])}`)
          .join(', ');
        reject(new Error(`waited ${patienceMs} ms for webhooks in vain; received: ${seen || 'nothing'}`));
      }, patienceMs);
      looks.add(look);
      look();
    });
  const take = (webhook: Received): number => {
    received.push(webhook);
    const status = answer(webhook, received);
    for (const look of looks) look();
    return status;
  };
  return { inbox: { url, received, until }, take };
}
