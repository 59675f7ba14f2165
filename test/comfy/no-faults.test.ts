// Faults are for rehearsals: none of them reaches a run on real GPUs.

import { expect, it } from 'vitest';
import { deploymentSpecSchema } from '../../src/run-service/service-deployments.ts';
import { FAULTS } from '../../src/run-service/faults.ts';

import { openReceiver } from '../run-service/receiver.ts';
import { openOwn, portrait } from './own-service.ts';

const urlOf = (run: {
  readonly outputs: readonly {
    readonly data: Readonly<Record<string, readonly { readonly url: string }[]>>;
  }[];
}) => Object.values(run.outputs[0]?.data ?? {})[0]?.[0]?.url ?? '';

it('a run on real GPUs has no fault, whatever the rates are', async () => {
  const faults = Object.fromEntries(FAULTS.map((name) => [name, 1]));
  const { own } = await openOwn(portrait(), {}, { faults });
  const receiver = await openReceiver();
  const id = await own.queue({}, { webhook: receiver.url });
  const run = await own.until(id);
  expect([run.id, run.status]).toEqual([id, 'success']);
  expect((await fetch(urlOf(run))).headers.get('content-type')).toBe('image/png');
  const received = await receiver.until((webhooks) =>
    webhooks.some(({ body }) => body['status'] === 'success'),
  );
  expect(received.map(({ body }) => [body['run_id'], body['status']])).toEqual(
    ['queued', 'started', 'running', 'success'].map((status) => [id, status]),
  );
  expect(own.service.stats().faults).toEqual({});
});

it('a run on real GPUs that names a fault is refused, and one of the simulation is not', async () => {
  const simulated = deploymentSpecSchema.parse({ name: 'simulated', runSeconds: 0 });
  const { own } = await openOwn(portrait(), {}, { deployments: [simulated] });
  const order = (deployment_id: string, fault: string): ReturnType<typeof own.ask> =>
    own.ask('POST', '/run/deployment/queue', { deployment_id, inputs: { runsheet_faults: fault } });
  for (const fault of ['flood-request', 'flood-answer', 'fail', 'no such fault']) {
    const { status, json } = await order(own.deployment, fault);
    expect([fault, status, JSON.stringify(json)]).toEqual([
      fault,
      422,
      expect.stringContaining('faults are for rehearsals, and this deployment runs on real GPUs'),
    ]);
  }
  expect((await order(simulated.id, 'busy')).status).toBe(429);
});
