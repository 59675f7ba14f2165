// The content of a single webhook.

import assert from 'node:assert/strict';
import { buys, type Case } from '../case.ts';
import type { Received } from '../receiver.ts';
import { isEnded, type Service } from '../service.ts';

export const REACHED = { needs: ['webhooks that reach this machine'] } as const;
export const hasEnded = (received: readonly Received[]): boolean =>
  received.some(({ body }) => isEnded(body));

/** Outputs without the host that files are fetched from: a gateway before the service may have another name. */
const pathsIn = (outputs: unknown): string => JSON.stringify(outputs).replaceAll(/https?:\/\/[^/]+/g, '');

/** The first webhook of one run, whatever it says. */
const first = (service: Service): Promise<Received & { id: string }> =>
  service.once('first webhook', async () => {
    const inbox = service.inboxes.open();
    const id = await service.queue({ webhook: `${inbox.url}/deep?mark=1&b=2` });
    const [webhook] = await inbox.until((received) => received.length > 0);
    assert.ok(webhook);
    return { ...webhook, id };
  });

const firstCase = (name: string, check: (one: Received & { id: string }) => void): Case =>
  buys(name, REACHED, async (service) => check(await first(service)));

export const WEBHOOK_BODY_CASES: readonly Case[] = [
  firstCase(
    'a webhook has these six keys and no other; `event_type` is `run.updated`; `run_id` is the id of the run; `progress` is a number from 0 to 1',
    ({ id, body: { event_type, status, live_status, progress, run_id, outputs, ...surplus } }) => {
      assert.deepEqual([event_type, typeof status, run_id, surplus], ['run.updated', 'string', id, {}]);
      assert.ok(live_status === null || typeof live_status === 'string');
      assert.ok(typeof progress === 'number' && progress >= 0 && progress <= 1, String(progress));
      assert.ok(Array.isArray(outputs));
    },
  ),
  firstCase(
    'a webhook is a POST; the content type of a webhook is JSON; the path and query of the webhook address are kept',
    ({ method, headers, url }) => {
      assert.equal(method, 'POST');
      assert.match(String(headers['content-type']), /^application\/json/);
      assert.match(url, /\/deep\?mark=1&b=2$/);
    },
  ),
  buys('`outputs` of a success are those of the run', REACHED, async (service) => {
    const inbox = service.inboxes.open();
    const id = await service.queue({ webhook: inbox.url });
    const webhooks = await inbox.until(hasEnded);
    const end = webhooks.find(({ body }) => isEnded(body));
    assert.deepEqual(pathsIn(end?.body['outputs']), pathsIn((await service.run(id))['outputs']));
  }),
];
