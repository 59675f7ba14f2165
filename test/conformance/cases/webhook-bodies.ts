// What a single webhook says.

import assert from 'node:assert/strict';
import { buys, type Case } from '../case.ts';
import type { Json } from '../receiver.ts';
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

const bodyCase = (key: string, check: (value: unknown, body: Json) => void): Case =>
  buys(`a webhook has \`${key}\``, REACHED, async (service) => {
    const { body } = await first(service);
    assert.ok(key in body, JSON.stringify(body));
    check(body[key], body);
  });

export const WEBHOOK_BODY_CASES: readonly Case[] = [
  bodyCase('event_type', (value) => assert.equal(typeof value, 'string')),
  bodyCase('status', (value) => assert.equal(typeof value, 'string')),
  bodyCase('live_status', (value) => assert.ok(value === null || typeof value === 'string')),
  bodyCase('progress', (value) => assert.equal(typeof value, 'number')),
  bodyCase('run_id', (value) => assert.equal(typeof value, 'string')),
  bodyCase('outputs', (value) => assert.ok(Array.isArray(value))),
  buys(
    'a webhook has these six keys and no other',
    REACHED,
    async (service) => void assert.equal(Object.keys((await first(service)).body).length, 6),
  ),
  buys(
    '`event_type` is `run.updated`',
    REACHED,
    async (service) => void assert.equal((await first(service)).body['event_type'], 'run.updated'),
  ),
  buys('`run_id` is the id of the run', REACHED, async (service) => {
    const { id, body } = await first(service);
    assert.equal(body['run_id'], id);
  }),
  buys('`progress` is a number from 0 to 1', REACHED, async (service) => {
    const progress = Number((await first(service)).body['progress']);
    assert.ok(progress >= 0 && progress <= 1, String(progress));
  }),
  buys('`outputs` of a success are those of the run', REACHED, async (service) => {
    const inbox = service.inboxes.open();
    const id = await service.queue({ webhook: inbox.url });
    const all = await inbox.until(hasEnded);
    const end = all.find(({ body }) => isEnded(body));
    assert.deepEqual(pathsIn(end?.body['outputs']), pathsIn((await service.run(id))['outputs']));
  }),
  buys(
    'the content type of a webhook is JSON',
    REACHED,
    async (service) =>
      void assert.match(String((await first(service)).headers['content-type']), /^application\/json/),
  ),
  buys(
    'a webhook is a POST',
    REACHED,
    async (service) => void assert.equal((await first(service)).method, 'POST'),
  ),
  buys(
    'the path and query of the webhook address are kept',
    REACHED,
    async (service) => void assert.match((await first(service)).url, /\/deep\?mark=1&b=2$/),
  ),
];
