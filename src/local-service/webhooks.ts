// Telling others, as the real service does it: at once, unsigned, three tries, and then the news is gone for ever.
//
//   post ─▶ outbox ─flush (after the commit)─▶ lane of the receiver ─▶ POST ──ok──▶ delivered
//                                                  ▲                    │
//                                                  └── wait 0.5 s, 1 s ─┴─▶ GET with the same body ─▶ … ─▶ failed
//
// That the second and third try are GETs is a quirk of the real service; receivers that only know POST lose them.
// A receiver has a lane of its own with 64 connections, so that a dead one never holds up another.

import type { LookupFunction } from 'node:net';
import { Agent, request } from 'undici';
import { reasonOf } from '../errors.ts';
import type { Clock } from './clock.ts';
import { createLanes } from './webhook-lanes.ts';
import { targetOf } from './webhook-target.ts';

export type Webhooks = {
  /** Puts a delivery aside until `flush`: nothing is told before it is committed. */
  post(webhook: string, body: string): void;
  flush(): void;
  /** Forgets what was put aside: its transaction was rolled back. */
  discard(): void;
  counts(): Readonly<Record<Outcome, number>>;
  close(): Promise<void>;
};
type Outcome = 'delivered' | 'failed' | 'refused';

type Delivery = { readonly url: URL; readonly body: string; tries: number };

const TRIES = 3;
const WAITS_MS = [500, 1000] as const;
const WAIT_MIN_MS = 10;
const TIMEOUT_MS = 20_000;
const CONNECTIONS = 64;
// A receiver that is down must not fill the memory; what the real service would lose too is lost sooner.
const WAITING_MAX = 100_000;
const BODY_READ_BYTES = 64 * 1024;

export function createWebhooks(facts: {
  readonly clock: Clock;
  readonly speed: number;
  readonly log: (event: string, facts: Record<string, unknown>) => void;
}): Webhooks {
  const counts = { delivered: 0, failed: 0, refused: 0 };
  const agent = createAgent();
  const lanes = createLanes<Delivery>({
    places: CONNECTIONS,
    receiverOf: (delivery) => delivery.url.origin,
    send: async (delivery) => settle(delivery, await attempt(agent, delivery)),
  });
  const refuse = refuser(facts.log);
  let outbox: { webhook: string; body: string }[] = [];
  let closed = false;

  function settle(delivery: Delivery, failure: string | undefined): void {
    if (closed) return;
    if (failure === undefined) counts.delivered++;
    else retry(delivery, failure);
  }

  function retry(delivery: Delivery, failure: string): void {
    const waitMs = WAITS_MS[delivery.tries] ?? 0;
    delivery.tries++;
    if (delivery.tries >= TRIES) return giveUp(delivery, failure);
    facts.clock.at(facts.clock.now() + Math.max(WAIT_MIN_MS, waitMs / facts.speed), () => join(delivery));
  }

  function join(delivery: Delivery): void {
    if (lanes.waiting(delivery) < WAITING_MAX) lanes.join(delivery);
    else giveUp(delivery, `${WAITING_MAX} deliveries wait for this receiver already`);
  }

  function giveUp(delivery: Delivery, reason: string): void {
    counts.failed++;
    // Only the origin: the path may carry a token.
    facts.log('webhook-failed', { receiver: delivery.url.origin, reason });
  }

  function send(webhook: string, body: string): void {
    const target = targetOf(webhook);
    if (target.kind === 'allowed') return join({ url: target.url, body, tries: 0 });
    counts.refused++;
    refuse(target.reason);
  }

  return {
    post: (webhook, body) => void outbox.push({ webhook, body }),
    flush() {
      const posted = outbox;
      outbox = [];
      for (const { webhook, body } of posted) send(webhook, body);
    },
    discard() {
      outbox = [];
    },
    counts: () => ({ ...counts }),
    close() {
      closed = true;
      lanes.clear();
      return agent.destroy();
    },
  };
}

/** Says each reason once: in a poll-only batch every webhook is refused for the same one. */
function refuser(log: (event: string, facts: Record<string, unknown>) => void): (reason: string) => void {
  const said = new Set<string>();
  return (reason) => {
    if (said.has(reason) || said.size >= 1000) return;
    said.add(reason);
    log('webhook-refused', { reason });
  };
}

/** One try; what is returned says why it failed. */
async function attempt(agent: Agent, delivery: Delivery): Promise<string | undefined> {
  try {
    const answer = await request(delivery.url, {
      dispatcher: agent,
      method: delivery.tries === 0 ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json', 'user-agent': 'runsheet-local-service' },
      body: delivery.body,
    });
    await answer.body.dump({ limit: BODY_READ_BYTES });
    return answer.statusCode < 400 ? undefined : `answered ${answer.statusCode}`;
  } catch (error) {
    return reasonOf(error);
  }
}

// Whatever a hosts file says, `localhost` is this machine, and no other name is ever looked up.
const loopbackOnly: LookupFunction = (_hostname, _options, done) =>
  done(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]);

const createAgent = (): Agent =>
  new Agent({
    connections: CONNECTIONS,
    pipelining: 1,
    allowH2: false,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    connect: { timeout: TIMEOUT_MS, lookup: loopbackOnly, autoSelectFamily: true },
  });
