import assert from 'node:assert/strict';
import { buys, type Case } from '../case.ts';
import type { Received } from '../receiver.ts';
import type { Service } from '../service.ts';
import { hasEnded, REACHED, WEBHOOK_BODY_CASES } from './webhook-bodies.ts';

const OF_ALL_KINDS = { needs: ['webhooks that reach this machine', 'deployments of all kinds'] } as const;
const STATUSES = ['queued', 'started', 'running', 'success'] as const;

const statusesOf = (received: readonly Received[]): string[] =>
  received.map(({ body }) => String(body['status']));

type RunWebhooks = { readonly id: string; readonly all: readonly Received[] };

/** The webhooks of one run whose address has a query, once all statuses have arrived. */
const webhooksOfRun = (service: Service): Promise<RunWebhooks> =>
  service.once('webhooks', async () => {
    const inbox = service.inboxes.open();
    const id = await service.queue({ webhook: `${inbox.url}/deep?mark=1&b=2` });
    const webhooks = await inbox.until((seen) =>
      STATUSES.every((status) => statusesOf(seen).includes(status)),
    );
    return { id, all: webhooks };
  });

const isOutput = ({ body }: Received): boolean => body['event_type'] === 'run.output';

const OUTPUT: readonly Case[] = [
  buys(
    'with `target_events=run.output` in its query, a webhook also reports outputs by `run.output`, which contains the outputs',
    REACHED,
    async (service) => {
      const inbox = service.inboxes.open();
      await service.queue({ webhook: `${inbox.url}/hook?target_events=run.output,run.updated` });
      const outputs = (await inbox.until((received) => received.some(isOutput))).find(isOutput)?.body[
        'outputs'
      ];
      assert.ok(Array.isArray(outputs) && outputs.length > 0);
    },
  ),
  buys('without target_events there is no `run.output`', REACHED, async (service) => {
    const { all: webhooks } = await webhooksOfRun(service);
    await settled(service);
    assert.deepEqual(webhooks.filter(isOutput), []);
  }),
];

const EVENTS: readonly Case[] = [
  buys(
    'webhooks report the statuses queued, started, running and success, whatever webhook_intermediate_status is; no webhook reports that a run was accepted',
    REACHED,
    async (service) => {
      const { all: webhooks } = await webhooksOfRun(service);
      assert.deepEqual([...new Set(statusesOf(webhooks))].toSorted(), [...STATUSES].toSorted());
    },
  ),
  buys(
    'a webhook reports a cancellation; no webhook is sent for a run after it was cancelled',
    OF_ALL_KINDS,
    async (service) => {
      const inbox = service.inboxes.open();
      const id = await service.queue({ webhook: inbox.url, deployment_id: service.deployments?.long });
      await inbox.until((received) => statusesOf(received).includes('started'));
      await service.ask('POST', `/run/${id}/cancel`);
      await inbox.until((received) => statusesOf(received).includes('cancelled'));
      await settled(service);
      assert.equal(statusesOf(inbox.received).at(-1), 'cancelled');
    },
  ),
  buys('a webhook reports a timeout', OF_ALL_KINDS, async (service) => {
    const inbox = service.inboxes.open();
    await service.queue({ webhook: inbox.url, deployment_id: service.deployments?.hasty });
    await inbox.until((received) => statusesOf(received).includes('timeout'));
  }),
  buys(
    'with webhook_intermediate_status, webhooks also report progress within a status; webhooks report progress without outputs',
    REACHED,
    async (service) => {
      const inbox = service.inboxes.open();
      await service.queue({
        inputs: service.lasting ?? {},
        webhook: inbox.url,
        webhook_intermediate_status: true,
      });
      const webhooks = await inbox.until((seen) => hasEnded(seen) && runningOf(seen).length > 1);
      assert.deepEqual(
        runningOf(webhooks).filter(({ body }) => (body['outputs'] as unknown[]).length > 0),
        [],
      );
    },
  ),
  buys('without webhook_intermediate_status, webhooks do not report progress', REACHED, async (service) => {
    const { all: webhooks } = await webhooksOfRun(service);
    await settled(service);
    assert.equal(runningOf(webhooks).length, 1);
  }),
];

const runningOf = (received: readonly Received[]): readonly Received[] =>
  received.filter(({ body }) => body['status'] === 'running');

/** Waits until earlier webhooks have arrived: another run has reported its end. */
const settled = async (service: Service): Promise<void> => {
  const inbox = service.inboxes.open();
  await service.queue({ webhook: inbox.url });
  await inbox.until(hasEnded);
};

const isTry = ({ body }: Received): boolean => body['status'] === 'queued';

/** Returns the deliveries of a webhook whose tries get the status of `answer`. */
async function tries(
  service: Service,
  answer: () => number,
  expected: number,
): Promise<() => readonly Received[]> {
  const inbox = service.inboxes.open((webhook) => (isTry(webhook) ? answer() : 200));
  await service.queue({ webhook: inbox.url });
  await inbox.until((received) => received.filter(isTry).length >= expected && hasEnded(received));
  return () => inbox.received.filter(isTry);
}

const TRIES: readonly Case[] = [
  buys(
    'a webhook that is refused is sent three times; the second and third try are GETs with the same JSON body; after three tries a webhook is not sent again',
    REACHED,
    async (service) => {
      const attempts = await tries(service, () => 503, 3);
      await settled(service);
      assert.deepEqual(
        attempts().map(({ method }) => method),
        ['POST', 'GET', 'GET'],
      );
      for (const { body } of attempts()) assert.deepEqual(body, attempts()[0]?.body);
    },
  ),
  buys('an answer below 400 accepts a webhook, which is then not sent again', REACHED, async (service) => {
    const attempts = await tries(service, () => 302, 1);
    // Another webhook is tried three times meanwhile.
    await tries(service, () => 503, 3);
    assert.equal(attempts().length, 1);
  }),
];

export const WEBHOOK_CASES: readonly Case[] = [...WEBHOOK_BODY_CASES, ...OUTPUT, ...EVENTS, ...TRIES];
