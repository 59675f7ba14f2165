// The local run service in front of ComfyUIs as a target: each deployment has servers of its own, by the checkpoint that
// only they have.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { portrait, TIMING } from '../comfy/own-service.ts';
import { startLocalService } from '../../src/run-service/server.ts';
import { ComfyStandIn } from '../comfy/stand-in.ts';
import { asTarget, TOKENS } from './local.ts';
import type { Service } from './service.ts';
import type { Flavour } from './target.ts';

const HOURS = 86_400;
/** A server for each run that the cases execute at one time. */
const SERVERS = { usual: 4, long: 5, full: 1, failing: 1, hasty: 2 } as const;
type Kind = keyof typeof SERVERS;
const KINDS = Object.keys(SERVERS) as Kind[];

function graphOf(kind: Kind) {
  const graph = portrait({ seconds: kind === 'usual' ? 0 : HOURS });
  Object.assign(graph['3']?.inputs ?? {}, { model: ['1', 0] });
  Object.assign(graph['5']?.inputs ?? {}, { steps: 3 });
  return {
    ...graph,
    '1': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: kind } },
    '10': { class_type: 'SaveImage', inputs: { images: ['5', 0], filename_prefix: 'again' } },
    ...(kind === 'failing' && {
      '5': { class_type: 'Fail', inputs: { image: ['3', 0], message: 'no', exception_type: 'RuntimeError' } },
    }),
  };
}

const workflowOf = (kind: Kind) => ({
  name: kind,
  text: JSON.stringify(graphOf(kind)),
  inputs: { seed: ['3.seed'], ...(kind !== 'failing' && { steps: ['5.steps'] }) },
  ...(kind === 'hasty' && { runTimeoutSeconds: 0.1 }),
});

export async function openComfy(flavour: Flavour, patienceMs: number): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'runsheet-'));
  const standIns = KINDS.flatMap((kind) =>
    Array.from(
      { length: SERVERS[kind] },
      (_, index) => new ComfyStandIn({ folder: join(folder, `${kind}-${index}`), checkpoints: [kind] }),
    ),
  );
  await Promise.all(standIns.map((standIn) => standIn.start()));
  const service = await startLocalService({
    port: 0,
    tokens: TOKENS,
    webhooksAnywhere: true,
    // Webhooks are tried again soon.
    speed: 100,
    database: join(folder, 'runs.db'),
    deployments: [],
    faults: {},
    behaviour: flavour,
    seed: 1,
    timing: TIMING,
  });
  const added = await service.addGpus({
    servers: standIns.map(({ url }) => ({ url, gpu: 'RTX4090' })),
    workflows: KINDS.map(workflowOf),
  });
  const [usual = '', long = '', full = '', failing = '', hasty = ''] = added.deployments.map(({ id }) => id);
  const close = async (): Promise<void> => {
    await service.close();
    await Promise.all(standIns.map((standIn) => standIn.kill()));
    rmSync(folder, { recursive: true, force: true });
  };
  return asTarget(
    { ...service, close },
    {
      deploymentId: usual,
      deployments: { long, full, failing, hasty },
      inputs: { prompt: 'a cat', seed: 7, steps: 3 },
      lasting: { '5.seconds': 1 },
      isOwn: true,
      flavour,
      patienceMs,
    },
  );
}
