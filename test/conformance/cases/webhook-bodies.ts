// What a single webhook says.

import assert from 'node:assert/strict';
import { buys, type Case } from '../case.ts';
import type { Json } from '../violations.ts';
import type { Received } from '../receiver.ts';
import { isEnded, type Service } from '../service.ts';

export const REACHED = { needs: ['webhooks that reach this machine'] } as const;
export const hasEnded = (all: readonly Received[]): boolean => all.some(({ body }) => isEnded(body));

/** Outputs without the host that files are fetched from: a gateway before the service may have another name. */
const pathsIn = (outputs: unknown): string => JSON.stringify(outputs).replaceAll(/https?:\/\/[^/]+/g, '');

/** The first webhook of one run, whatever it says. */
const first = (service: Service): Promise<Received & { id: string }> =>
  service.once('first webhook', async () => {
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

export const WEBHOOK_BODY_CASES: readonly Case[] = [
  bodyCase('event_type', 'a webhook has its event type', (value) => assert.equal(typeof value, 'string')),
  bodyCase('status', 'a webhook has the status', (value) => assert.equal(typeof value, 'string')),
  bodyCase('live_status', 'a webhook has the live status, or null', (value) =>
    assert.ok(value === null || typeof value === 'string'),
  ),
  bodyCase('progress', 'a webhook has the progress', (value) => assert.equal(typeof value, 'number')),
  bodyCase('run_id', 'a webhook has the run id', (value) => assert.equal(typeof value, 'string')),
  bodyCase('outputs', 'a webhook has outputs', (value) => assert.ok(Array.isArray(value))),
  buys(
    'webhook.six',
    'a webhook has six keys',
    async (service) => void assert.equal(Object.keys((await first(service)).body).length, 6),
    REACHED,
  ),
  buys(
    'webhook.event_type.value',
    'the event type of a webhook is run.updated',
    async (service) => void assert.equal((await first(service)).body['event_type'], 'run.updated'),
    REACHED,
  ),
  buys(
    'webhook.run_id.value',
    'a webhook names the run of its request',
    async (service) => {
      const { id, body } = await first(service);
      assert.equal(body['run_id'], id);
    },
    REACHED,
  ),
  buys(
    'webhook.progress.value',
    'the progress of a webhook is between 0 and 1',
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
    'a webhook has the content type of JSON',
    async (service) =>
      void assert.match(String((await first(service)).headers['content-type']), /^application\/json/),
    REACHED,
  ),
  buys(
    'webhook.post',
    'a webhook is sent as a POST',
    async (service) => void assert.equal((await first(service)).method, 'POST'),
    REACHED,
  ),
  buys(
    'webhook.query',
    'a webhook is sent to the given path and query',
    async (service) => void assert.match((await first(service)).url, /\/deep\?mark=1&b=2$/),
    REACHED,
  ),
];
