// The vendor's Python client, unchanged, against the local service: simulated, and in front of a ComfyUI. It reads every answer into
// models of its own.

import { describe, expect, it } from 'vitest';
import { openStandIn, OwnService, portrait } from '../comfy/own-service.ts';
import { openService, TOKEN } from '../run-service/asking.ts';
import { pythonWith } from '../stage/python.ts';

const { missing, read } = pythonWith('vendor-client', { comfydeploy: 'comfydeploy==0.7.0' });

const SCRIPT = `
import json, sys, time
from comfydeploy import ComfyDeploy

base, key, deployment, seed, ended = sys.argv[1:]
with ComfyDeploy(bearer=key, server_url=base) as client:
    queued = client.run.deployment.queue(request={
        "deployment_id": deployment, "inputs": {"prompt": "a cat", seed: 18446744073709551615},
    })
    run_id = queued.create_run_response.run_id
    if ended == "cancelled":
        client.run.cancel(run_id=run_id)
    read = lambda: client.run.get(run_id=run_id).workflow_run_model
    run = read()
    while run.ended_at is None:
        time.sleep(0.05)
        run = read()
    files = [item.url for output in run.outputs or [] for item in (output.data or {}).get("images", [])]
    print(json.dumps({
        "status": run.status, "seed": str(run.workflow_inputs[seed]), "files": files,
    }))
`;

type ShownRun = {
  readonly status: string;
  readonly seed: string;
  readonly files: readonly string[];
};

/** `seed`: what the input is called. */
type ClientPlace = {
  readonly base: string;
  readonly key: string;
  readonly deployment: string;
  readonly seed: string;
};

/** A run takes so many seconds. */
type Open = (seconds: number, use: (place: ClientPlace) => Promise<void>) => Promise<void>;

const PLACES: readonly (readonly [string, Open])[] = [
  [
    'the simulation',
    async (seconds, use) => {
      const { service, deploymentId } = await openService({ runSeconds: seconds, coldStartSeconds: 0 });
      await use({ base: service.base, key: TOKEN, deployment: deploymentId, seed: 'seed' });
    },
  ],
  [
    'a ComfyUI',
    async (seconds, use) => {
      await using gpu = await openStandIn();
      await using own = await OwnService.of([gpu], portrait({ seconds }));
      await use({ base: own.service.base, key: 'key', deployment: own.deployment, seed: '3.seed' });
    },
  ],
];

describe.skipIf(missing !== undefined)(
  `the vendor's Python client (missing: ${missing ?? 'nothing'}) in front of`,
  () => {
    it.each(PLACES)('%s queues a run, reads it until its end, and finds what it made', async (_, at) =>
      at(0, async ({ base, key, deployment, seed }) => {
        const shown = (await read(SCRIPT, base, key, deployment, seed, 'success')) as ShownRun;
        expect([shown.status, shown.seed]).toEqual(['success', '18446744073709551615']);
        expect((await fetch(shown.files[0] ?? '')).headers.get('content-type')).toBe('image/png');
      }),
    );

    it.each(PLACES)('%s reads a run that was cancelled', async (_, at) =>
      at(3_600, async ({ base, key, deployment, seed }) => {
        expect(await read(SCRIPT, base, key, deployment, seed, 'cancelled')).toMatchObject({
          status: 'cancelled',
        });
      }),
    );
  },
);
