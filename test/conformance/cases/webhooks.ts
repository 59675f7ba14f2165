import assert from 'node:assert/strict';
import { buys, type Case } from '../case.ts';
import type { Json } from '../lies.ts';
import type { Received } from '../receiver.ts';
import { isEnded, type Service } from '../service.ts';

const REACHED = { needs: ['webhooks that reach this machine'] } as const;
const OF_ALL_KINDS = { needs: ['webhooks that reach this machine', 'deployments of all kinds'] } as const;
const STATUSES = ['queued', 'started', 'running', 'success'] as const;

const statusesOf = (all: readonly Received[]): string[] => all.map(({ body }) => String(body['status']));
const hasEnded = (all: readonly Received[]): boolean => all.some(({ body }) => isEnded(body));

/** Outputs without the host that files are fetched from: a gateway before the service may have another name. */
const pathsIn = (outputs: unknown): string => JSON.stringify(outputs).replaceAll(/https?:\/\/[^/]+/g, '');

type Told = { readonly id: string; readonly all: readonly Received[] };

/** All that was told of one run whose webhook has a query, once the end and all statuses have been told. */
const told = (service: Service): Promise<Told> =>
  service.once('told', async () => {
    const inbox = service.inboxes.open();
    const id = await service.queue({ webhook: `${inbox.url}/deep?mark=1&b=2` });
    const all = await inbox.until((seen) => STATUSES.every((status) => statusesOf(seen).includes(status)));
    return { id, all };
  });

/** The first webhook of one run, whatever it says. */
const first = (service: Service): Promise<Received & { id: string }> =>
  service.once('first told', async () => {
    const inbox = service.inboxes.open();
    const id = await service.queue({ webhook: `${inbox.url}/deep?mark=1&b=2` });
    const [one] = await inbox.until((all) => all.length > 0);
    assert.ok(one);
    return { ...one, id };
  });

const bodyCase = (key: string, name: string, check: (value: unknown, body: Json) => void): Case =>
  buys(
    `webhook.${key}`,
    name,
    async (service) => {
      const { body } = await first(service);
      assert.ok(key in body, JSON.stringify(body));
      check(body[key], body);
    },
    REACHED,
  );

const BODY: readonly Case[] = [
  bodyCase('event_type', 'a webhook says what kind it is', (value) => assert.equal(typeof value, 'string')),
  bodyCase('status', 'a webhook says the status', (value) => assert.equal(typeof value, 'string')),
  bodyCase('live_status', 'a webhook says the live status, or null', (value) =>
    assert.ok(value === null || typeof value === 'string'),
  ),
  bodyCase('progress', 'a webhook says the progress', (value) => assert.equal(typeof value, 'number')),
  bodyCase('run_id', 'a webhook says the run', (value) => assert.equal(typeof value, 'string')),
  bodyCase('outputs', 'a webhook has outputs', (value) => assert.ok(Array.isArray(value))),
  buys(
    'webhook.six',
    'a webhook has six keys',
    async (service) => void assert.equal(Object.keys((await first(service)).body).length, 6),
    REACHED,
  ),
  buys(
    'webhook.event_type.value',
    'a webhook is called run.updated',
    async (service) => void assert.equal((await first(service)).body['event_type'], 'run.updated'),
    REACHED,
  ),
  buys(
    'webhook.run_id.value',
    'a webhook speaks of the run whose it is',
    async (service) => {
      const { id, body } = await first(service);
      assert.equal(body['run_id'], id);
    },
    REACHED,
  ),
  buys(
    'webhook.progress.value',
    'the progress of a webhook is within 0 and 1',
    async (service) => {
      const progress = Number((await first(service)).body['progress']);
      assert.ok(progress >= 0 && progress <= 1, String(progress));
    },
    REACHED,
  ),
  buys(
    'webhook.outputs.value',
    'the webhook of a success has the outputs of the run',
    async (service) => {
      const inbox = service.inboxes.open();
      const id = await service.queue({ webhook: inbox.url });
      const all = await inbox.until(hasEnded);
      const end = all.find(({ body }) => isEnded(body));
      assert.deepEqual(pathsIn(end?.body['outputs']), pathsIn((await service.run(id))['outputs']));
    },
    REACHED,
  ),
  buys(
    'webhook.content-type',
    'a webhook says that it is JSON',
    async (service) =>
      void assert.match(String((await first(service)).headers['content-type']), /^application\/json/),
    REACHED,
  ),
  buys(
    'webhook.post',
    'a webhook comes as a POST',
    async (service) => void assert.equal((await first(service)).method, 'POST'),
    REACHED,
  ),
  buys(
    'webhook.query',
    'a webhook comes to the path and the query that were given',
    async (service) => void assert.match((await first(service)).url, /\/deep\?mark=1&b=2$/),
    REACHED,
  ),
];

const toldCase = (status: string): Case =>
  buys(
    `webhook.on.${status}`,
    `a webhook tells of ${status}`,
    async (service) => {
      const inbox = service.inboxes.open();
      await service.queue({ webhook: inbox.url });
      await inbox.until((all) => statusesOf(all).includes(status));
    },
    REACHED,
  );

const EVENTS: readonly Case[] = [
  ...STATUSES.map(toldCase),
  buys(
    'webhook.on.cancelled webhook.end.last',
    'a webhook tells of a cancellation, and none comes after it',
    async (service) => {
      const inbox = service.inboxes.open();
      const id = await service.queue({ webhook: inbox.url, deployment_id: service.deployments?.long });
      await inbox.until((all) => statusesOf(all).includes('started'));
      await service.ask('POST', `/run/${id}/cancel`);
      await inbox.until((all) => statusesOf(all).includes('cancelled'));
      await settled(service);
      assert.equal(statusesOf(inbox.received).at(-1), 'cancelled');
    },
    OF_ALL_KINDS,
  ),
  buys(
    'webhook.on.timeout',
    'a webhook tells of a timeout',
    async (service) => {
      const inbox = service.inboxes.open();
      await service.queue({ webhook: inbox.url, deployment_id: service.deployments?.hasty });
      await inbox.until((all) => statusesOf(all).includes('timeout'));
    },
    OF_ALL_KINDS,
  ),
  buys(
    'webhook.not-on.not-started',
    'no webhook tells of a run that only waits',
    async (service) => {
      const { all } = await told(service);
      assert.ok(!statusesOf(all).includes('not-started'), String(statusesOf(all)));
    },
    REACHED,
  ),
  buys(
    'webhook.intermediate webhook.intermediate.outputs',
    'webhooks tell of the progress where it was asked for',
    async (service) => {
      const inbox = service.inboxes.open();
      await service.queue({ webhook: inbox.url, webhook_intermediate_status: true });
      const all = await inbox.until((seen) => hasEnded(seen) && runningOf(seen).length > 1);
      assert.deepEqual(
        runningOf(all).filter(({ body }) => (body['outputs'] as unknown[]).length > 0),
        [],
      );
    },
    REACHED,
  ),
  buys(
    'webhook.intermediate.only',
    'webhooks tell of no progress where it was not asked for',
    async (service) => {
      const { all } = await told(service);
      await settled(service);
      assert.equal(runningOf(all).length, 1);
    },
    REACHED,
  ),
];

const runningOf = (all: readonly Received[]): readonly Received[] =>
  all.filter(({ body }) => body['status'] === 'running');

/** What was sent before this has arrived: another run has been told of from its beginning to its end. */
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
    'webhook.tries webhook.tries.get',
    'news that is not taken comes as a POST and two GETs',
    async (service) => {
      const all = await tries(service, () => 503, 3);
      assert.deepEqual(
        all().map(({ method }) => method),
        ['POST', 'GET', 'GET'],
      );
    },
    REACHED,
  ),
  buys(
    'webhook.tries.end',
    'news that is never taken is given up after three tries',
    async (service) => {
      const all = await tries(service, () => 503, 3);
      await settled(service);
      assert.equal(all().length, 3);
    },
    REACHED,
  ),
  buys(
    'webhook.tries.body',
    'each try says the same',
    async (service) => {
      const all = await tries(service, () => 503, 3);
      for (const { body } of all()) assert.deepEqual(body, all()[0]?.body);
    },
    REACHED,
  ),
  buys(
    'webhook.taken',
    'news that was taken comes once, also where the answer was 302',
    async (service) => {
      const all = await tries(service, () => 302, 1);
      // Other news is tried three times meanwhile.
      await tries(service, () => 503, 3);
      assert.equal(all().length, 1);
    },
    REACHED,
  ),
];

export const WEBHOOK_CASES: readonly Case[] = [...BODY, ...EVENTS, ...TRIES];
