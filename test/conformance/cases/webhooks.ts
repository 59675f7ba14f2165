import assert from 'node:assert/strict';
import { buys, type Case } from '../case.ts';
import type { Received } from '../receiver.ts';
import type { Service } from '../service.ts';
import { hasEnded, REACHED, WEBHOOK_BODY_CASES } from './webhook-bodies.ts';

const OF_ALL_KINDS = { needs: ['webhooks that reach this machine', 'deployments of all kinds'] } as const;
const STATUSES = ['queued', 'started', 'running', 'success'] as const;

const statusesOf = (all: readonly Received[]): string[] => all.map(({ body }) => String(body['status']));

type RunWebhooks = { readonly id: string; readonly all: readonly Received[] };

/** All webhooks of one run whose address has a query, once all statuses have arrived. */
const webhooksOfRun = (service: Service): Promise<RunWebhooks> =>
  service.once('webhooks', async () => {
    const inbox = service.inboxes.open();
    const id = await service.queue({ webhook: `${inbox.url}/deep?mark=1&b=2` });
    const all = await inbox.until((seen) => STATUSES.every((status) => statusesOf(seen).includes(status)));
    return { id, all };
  });

const isOutput = ({ body }: Received): boolean => body['event_type'] === 'run.output';

const OUTPUT: readonly Case[] = [
  buys(
    'with `target_events=run.output` in its query, a webhook also reports outputs by `run.output`, which contains the outputs',
    REACHED,
    async (service) => {
      const inbox = service.inboxes.open();
      await service.queue({ webhook: `${inbox.url}/hook?target_events=run.output,run.updated` });
      const outputs = (await inbox.until((all) => all.some(isOutput))).find(isOutput)?.body['outputs'];
      assert.ok(Array.isArray(outputs) && outputs.length > 0);
    },
  ),
  buys('without target_events there is no `run.output`', REACHED, async (service) => {
    const { all } = await webhooksOfRun(service);
    await settled(service);
    assert.deepEqual(all.filter(isOutput), []);
  }),
];

const EVENTS: readonly Case[] = [
  buys(
    'webhooks report the statuses queued, started, running and success, whatever webhook_intermediate_status is; no webhook reports that a run was accepted',
    REACHED,
    async (service) => {
      const { all } = await webhooksOfRun(service);
      assert.deepEqual([...new Set(statusesOf(all))].toSorted(), [...STATUSES].toSorted());
    },
  ),
  buys(
    'a webhook reports a cancellation; no webhook is sent for a run after it was cancelled',
    OF_ALL_KINDS,
    async (service) => {
      const inbox = service.inboxes.open();
      const id = await service.queue({ webhook: inbox.url, deployment_id: service.deployments?.long });
      await inbox.until((all) => statusesOf(all).includes('started'));
      await service.ask('POST', `/run/${id}/cancel`);
      await inbox.until((all) => statusesOf(all).includes('cancelled'));
      await settled(service);
      assert.equal(statusesOf(inbox.received).at(-1), 'cancelled');
    },
  ),
  buys('a webhook reports a timeout', OF_ALL_KINDS, async (service) => {
    const inbox = service.inboxes.open();
    await service.queue({ webhook: inbox.url, deployment_id: service.deployments?.hasty });
    await inbox.until((all) => statusesOf(all).includes('timeout'));
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
      const all = await inbox.until((seen) => hasEnded(seen) && runningOf(seen).length > 1);
      assert.deepEqual(
        runningOf(all).filter(({ body }) => (body['outputs'] as unknown[]).length > 0),
        [],
      );
    },
  ),
  buys('without webhook_intermediate_status, webhooks do not report progress', REACHED, async (service) => {
    const { all } = await webhooksOfRun(service);
    await settled(service);
    assert.equal(runningOf(all).length, 1);
  }),
];

const runningOf = (all: readonly Received[]): readonly Received[] =>
  all.filter(({ body }) => body['status'] === 'running');

/** Waits until earlier webhooks have arrived: another run has reported its end. */
const settled = async (service: Service): Promise<void> => {
  const inbox = service.inboxes.open();
  await service.queue({ webhook: inbox.url });
  await inbox.until(hasEnded);
};

const isTry = ({ body }: Received): boolean => body['status'] === 'queued';

/** What came of a piece of news that `answer` answers. */
async function tries(
  service: Service,
  answer: () => number,
  expected: number,
): Promise<() => readonly Received[]> {
  const inbox = service.inboxes.open((one) => (isTry(one) ? answer() : 200));
  await service.queue({ webhook: inbox.url });
  await inbox.until((all) => all.filter(isTry).length >= expected && hasEnded(all));
  return () => inbox.received.filter(isTry);
}

const TRIES: readonly Case[] = [
  buys(
    'a webhook that is refused is sent three times; the second and third try are GETs with the same JSON body; after three tries a webhook is not sent again',
    REACHED,
    async (service) => {
      const all = await tries(service, () => 503, 3);
      await settled(service);
      assert.deepEqual(
        all().map(({ method }) => method),
        ['POST', 'GET', 'GET'],
      );
      for (const { body } of all()) assert.deepEqual(body, all()[0]?.body);
    },
  ),
  buys('an answer below 400 accepts a webhook, which is then not sent again', REACHED, async (service) => {
    const all = await tries(service, () => 302, 1);
    // Other news is tried three times meanwhile.
    await tries(service, () => 503, 3);
    assert.equal(all().length, 1);
  }),
];

export const WEBHOOK_CASES: readonly Case[] = [...WEBHOOK_BODY_CASES, ...OUTPUT, ...EVENTS, ...TRIES];
