// Delivers webhooks like the real service: immediately, unsigned, with three tries, after which the webhook is lost.
//
//   post ─▶ outbox ─flush (after the commit)─▶ lane of the receiver ─▶ POST ──ok──▶ delivered
//                                                  ▲                    │
//                                                  └── wait 0.5 s, 1 s ─┴─▶ GET with the same body ─▶ … ─▶ failed
//
// The second and third try are GETs, which is a quirk of the real service; receivers that only accept POST lose them. Each
// receiver has its own lane with 64 connections, so that a dead one never blocks others. Every try is stored with its result.

import type { Clock } from '../service-time.ts';
import type { DeliveryRow } from '../database.ts';
import { FifoQueue } from '../fifo-queue.ts';
import type { LookupFunction } from 'node:net';
import { request, type Dispatcher } from 'undici';
import { openOutgoing } from '../../host/http/outgoing.ts';
import { errorMessage } from '../../errors/error.ts';
import { isLoopback } from '../../options/loopback.ts';
import type { outputShown, AnswerOf, webhookShown } from '../../service-client/contract/shown.ts';
import type { Faults, FaultTarget } from '../faults.ts';
import { uuidOf } from '../identity.ts';
import type { LiveRun, Output, RunChange } from '../executors/executor.ts';
import { shownOutputs, type Links } from '../runs/run-record.ts';

/** Calls a receiver once. Returns the reason of a failure, undefined on success. */
type CallReceiver = (url: URL, method: 'GET' | 'POST', body: string) => Promise<string | undefined>;
export type Caller = { readonly call: CallReceiver; close(): Promise<void> };

/** How many connections one receiver gets. */
const CONNECTIONS = 64;
const TIMEOUT_MS = 20_000;
const BODY_READ_BYTES = 64 * 1024;

/** `anywhere` also calls other machines. */
export function openCaller({ anywhere }: { readonly anywhere: boolean }): Caller {
  const agent = openOutgoing({
    connections: CONNECTIONS,
    headersMs: TIMEOUT_MS,
    bodyMs: TIMEOUT_MS,
    connectMs: TIMEOUT_MS,
    proxied: anywhere,
    ...(anywhere ? {} : { lookup: loopbackOnly }),
  });
  return { call: (url, method, body) => callOnce(agent, url, method, body), close: () => agent.destroy() };
}

async function callOnce(dispatcher: Dispatcher, url: URL, method: 'GET' | 'POST', body: string) {
  try {
    const answer = await request(url, {
      dispatcher,
      method,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'runsheet-local-service',
        ...authorizationOf(url),
      },
      body,
    });
    await answer.body.dump({ limit: BODY_READ_BYTES });
    return answer.statusCode < 400 ? undefined : `answered ${answer.statusCode}`;
  } catch (error) {
    return errorMessage(error);
  }
}

/** Credentials in the address become an authorization header. */
function authorizationOf({ username, password }: URL): { readonly authorization?: string } {
  if (username === '' && password === '') return {};
  const words = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(words).toString('base64')}` };
}

// `localhost` always means this machine, whatever the hosts file says; other names are never resolved.
const loopbackOnly: LookupFunction = (_hostname, _options, done) =>
  done(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]);

type WebhookRequest = {
  readonly run: number;
  readonly webhook: string;
  readonly body: string;
  readonly delayMs: number;
  /** The method of retries; the real service uses GET. */
  readonly retries: 'GET' | 'POST';
};
type Delivery = Pick<WebhookRequest, 'run' | 'body' | 'retries'> & { readonly url: URL; tries: number };
const TRIES = 3;
const WAITS_MS = [500, 1000] as const;
const MIN_WAIT_MS = 10;
// A receiver that is down must not fill the memory; its webhooks are lost earlier than at the real service.
const MAX_WAITING = 100_000;

type SenderDeps = {
  readonly clock: Clock;
  readonly speed: number;
  readonly caller: Caller;
  readonly reach: Reach;
  readonly record: (row: DeliveryRow) => void;
  readonly log: (event: string, facts: Record<string, unknown>) => void;
};

export function createWebhooks(facts: SenderDeps) {
  const { clock, caller } = facts;
  const counts = { delivered: 0, failed: 0, refused: 0 };
  const lanes = createLanes(attempt);
  const refuse = refuser(facts.log);
  const outbox: WebhookRequest[] = [];
  let closed = false;

  async function attempt(delivery: Delivery): Promise<void> {
    const { run, url, body, retries, tries } = delivery;
    const method = tries === 0 ? 'POST' : retries;
    const atMs = clock.now();
    const failure = await caller.call(url, method, body);
    if (closed) return;
    facts.record({ run, atMs, method, outcome: failure ?? 'delivered', tookMs: clock.now() - atMs, body });
    if (failure === undefined) counts.delivered++;
    else retry(delivery, failure);
  }

  function retry(delivery: Delivery, failure: string): void {
    const waitMs = WAITS_MS[delivery.tries] ?? 0;
    delivery.tries++;
    if (delivery.tries >= TRIES) return giveUp(delivery, failure);
    clock.at(clock.now() + Math.max(MIN_WAIT_MS, waitMs / facts.speed), () => join(delivery));
  }

  function join(delivery: Delivery): void {
    if (!closed && !lanes.join(delivery))
      giveUp(delivery, `${MAX_WAITING} deliveries already wait for this receiver`);
  }

  function giveUp(delivery: Delivery, reason: string): void {
    counts.failed++;
    // Only the origin is logged: the path may carry a token.
    facts.log('webhook-failed', { receiver: delivery.url.origin, reason });
  }

  function send({ run, webhook, body, retries, delayMs }: WebhookRequest): void {
    const url = targetOf(webhook, facts.reach);
    if (typeof url === 'string') {
      counts.refused++;
      return refuse(url);
    }
    const delivery = { run, url, body, retries, tries: 0 };
    if (delayMs === 0) return join(delivery);
    clock.at(clock.now() + delayMs, () => join(delivery));
  }

  return {
    /** Queues a delivery until `flush`, because nothing is sent before the commit. */
    post: (webhookRequest: WebhookRequest): void => void outbox.push(webhookRequest),
    flush() {
      for (const webhookRequest of outbox.splice(0)) send(webhookRequest);
    },
    /** Drops the queued deliveries of a transaction that was rolled back. */
    discard() {
      outbox.length = 0;
    },
    counts: () => ({ ...counts }),
    close() {
      closed = true;
      lanes.clear();
      return caller.close();
    },
  };
}
type Webhooks = ReturnType<typeof createWebhooks>;

/** The deliveries to one receiver: the waiting ones, and how many are in flight. */
type ReceiverLane = { readonly line: FifoQueue<Delivery, Delivery>; active: number };

/** Each receiver has a lane with connections of its own. `send` never rejects. */
function createLanes(send: (delivery: Delivery) => Promise<void>) {
  const lanes = new Map<string, ReceiverLane>();
  /** Uses one connection while deliveries wait. */
  const serve = async (origin: string, lane: ReceiverLane): Promise<void> => {
    lane.active += 1;
    for (let next = lane.line.next(); next !== undefined; next = lane.line.next()) await send(next);
    lane.active -= 1;
    if (lane.active === 0) lanes.delete(origin);
  };
  return {
    /** False if too many deliveries wait for this receiver. */
    join(delivery: Delivery): boolean {
      const { origin } = delivery.url;
      const lane = lanes.get(origin) ?? { line: new FifoQueue<Delivery, Delivery>(), active: 0 };
      lanes.set(origin, lane);
      if (lane.line.size >= MAX_WAITING) return false;
      lane.line.join(delivery, delivery);
      if (lane.active < CONNECTIONS) void serve(origin, lane);
      return true;
    },
    clear(): void {
      for (const { line } of lanes.values()) while (line.next() !== undefined);
    },
  };
}

/** Logs each reason once, because in a poll-only batch every webhook is refused for the same reason. */
function refuser(log: (event: string, facts: Record<string, unknown>) => void): (reason: string) => void {
  const logged = new Set<string>();
  return (reason) => {
    if (logged.has(reason) || logged.size >= 1000) return;
    logged.add(reason);
    log('webhook-refused', { reason });
  };
}

/** The reach of webhooks. Other people and machines must not call this machine: a call could stop a ComfyUI that runs here. */
export type Reach = 'anywhere' | 'here' | 'nowhere';

/** The URL to call, or the reason why it is not called. The URL class normalizes every form of an IPv4 address before the comparison. */
export function targetOf(webhook: string, reach: Reach = 'here'): URL | string {
  const url = URL.parse(webhook);
  if (url === null) return 'it is not a URL';
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `${url.protocol} is not supported`;
  if (reach === 'anywhere') return url;
  if (reach === 'nowhere')
    return 'this service is for several people or machines, and --webhooks-anywhere is not given';
  return isLoopback(url.hostname) ? url : `${url.hostname} is not this machine`;
}

type PublishDeps = {
  readonly webhooks: Pick<Webhooks, 'post'>;
  readonly faults: Faults;
  readonly linksOf: (run: FaultTarget, nowMs: number) => Links;
  readonly outputsOf: (run: LiveRun) => readonly Output[];
};

const DELAY_MS = 3_000;

/** Sends the webhooks of a change, if the run has a webhook. */
export function publish(world: PublishDeps, run: LiveRun, change: RunChange): void {
  if (run.webhook === null) return;
  const succeeded = change.kind === 'status' && change.status === 'success';
  const outputs = succeeded
    ? shownOutputs(run.id, world.outputsOf(run), change.atMs, world.linksOf(run, change.atMs))
    : [];
  if (outputs.length > 0 && targetEvents(run.webhook).includes('run.output'))
    sendEvent(world, run, { event: 'run.output', change: { ...change, status: 'running' }, outputs });
  sendEvent(world, run, { event: 'run.updated', change, outputs });
}

type RunEvent = {
  readonly event: 'run.updated' | 'run.output';
  readonly change: RunChange;
  readonly outputs: readonly AnswerOf<typeof outputShown>[];
};

function sendEvent(
  { webhooks, faults }: PublishDeps,
  run: LiveRun,
  { event, change, outputs }: RunEvent,
): void {
  const occasion = `${event} ${change.kind} ${change.status} ${change.work.progress}`;
  const shouldInject = (fault: Parameters<Faults['shouldInject']>[0]): boolean =>
    faults.shouldInject(fault, run, occasion);
  if (run.webhook === null || shouldInject('lose-webhook')) return;
  const body: AnswerOf<typeof webhookShown> = {
    event_type: event,
    status: shouldInject('lie-webhook') ? 'success' : change.status,
    live_status: change.work.liveStatus,
    progress: change.work.progress,
    run_id: shouldInject('stray-webhook') ? uuidOf('stray', run.id) : run.id,
    outputs: shouldInject('empty-webhook') ? [] : outputs,
  };
  const webhookRequest = {
    run: run.number,
    webhook: run.webhook,
    body: JSON.stringify(body),
    delayMs: shouldInject('delay-webhook') ? DELAY_MS : 0,
    retries: shouldInject('post-retries') ? ('POST' as const) : ('GET' as const),
  };
  const times = shouldInject('repeat-webhook') ? 2 : 1;
  for (let time = 0; time < times; time += 1) webhooks.post(webhookRequest);
}

/** Reads the raw address, like the real service: an encoded comma is not a separator. */
function targetEvents(webhook: string): readonly string[] {
  const query = webhook.split('?', 2)[1] ?? '';
  const eventsPair = query.split('&').find((pair) => pair.startsWith('target_events='));
  return eventsPair?.slice('target_events='.length).split(',') ?? [];
}
