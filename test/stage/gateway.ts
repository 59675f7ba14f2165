// A proxy between a worker and a run service that delays the responses to Queue Run, so that a test can act while the
// service has accepted calls but the worker has no response. It can also drop responses.

import { setTimeout as wait } from 'node:timers/promises';
import { openRelay, type Asked, type Relay } from './relay.ts';

/** The stages of a Queue Run call: it reached the gateway, the service has responded, the response was forwarded. */
export type Moment = 'arrived' | 'taken' | 'answered';

export type Gateway = Relay & {
  readonly service: string;
  /** Queue Run calls without a response yet. */
  readonly inFlight: () => number;
  /** Calls `act` synchronously when the next Queue Run call reaches this stage. */
  readonly atNext: (moment: Moment, act: () => void) => void;
  /** All Queue Run calls in the order of their arrival. */
  readonly calls: readonly QueueRunCall[];
};

/** A Queue Run call: when it arrived, in ms since 1970, its webhook, and the status of its response. */
export type QueueRunCall = { readonly at: number; readonly webhook: string | undefined; status?: number };

/**
 * Delays responses by `holdMs`, or until the promise settles. `loses` decides for each Queue Run call, counted from 1,
 * whether its response is dropped. `mostListed` limits the page size of lists.
 */
export async function openGateway(
  service: string,
  holdMs: number | Promise<unknown>,
  atPort = 0,
  loses: (nth: number) => boolean = () => false,
  mostListed = Number.POSITIVE_INFINITY,
): Promise<Gateway> {
  let inFlight = 0;
  const calls: QueueRunCall[] = [];
  const waiting: Record<Moment, (() => void)[]> = { arrived: [], taken: [], answered: [] };
  const notify = (moment: Moment): void => waiting[moment].splice(0).forEach((act) => act());
  const fewer = (_: string, name: string, limit: string): string =>
    `${name}${Math.min(Number(limit), mostListed)}`;

  const relay = await openRelay(
    service,
    async (request, pass) => {
      if (!isQueueRun(request)) return pass(request.url.replace(/([?&]limit=)(\d+)/, fewer));
      inFlight += 1;
      try {
        notify('arrived');
        const call: QueueRunCall = { at: Date.now(), webhook: webhookOf(request.body) };
        const isLost = loses(calls.push(call));
        const answer = await pass();
        call.status = answer.status;
        if (isLost) return undefined;
        notify('taken');
        await (typeof holdMs === 'number' ? wait(holdMs) : holdMs);
        return { ...answer, sent: () => notify('answered') };
      } finally {
        inFlight -= 1;
      }
    },
    atPort,
  );
  return {
    ...relay,
    service,
    inFlight: () => inFlight,
    atNext: (moment, act) => void waiting[moment].push(act),
    calls,
  };
}

const isQueueRun = ({ method, url }: Asked): boolean => method === 'POST' && /\/(queue|run)$/.test(url);

function webhookOf(body: Buffer): string | undefined {
  return (JSON.parse(String(body)) as { webhook?: string } | null)?.webhook;
}
