// A run service of either executor: the simulation, or stand-ins for ComfyUI. What is true of a batch over one is true over the other.

import { crc32 } from 'node:zlib';
import { portrait } from '../comfy/own-service.ts';
import { ComfyStandIn } from '../comfy/stand-in.ts';
import type { Stage } from './stage.ts';

export type Executor = 'rehearsal' | 'comfyui';

/** Each takes number, prompt and seed. */
type Offer = {
  readonly name: string;
  /** How long a run takes. */
  readonly seconds: number;
  /** The runs of this offer need more memory than there is. */
  readonly isTooLarge?: true;
};

export type Ground = AsyncDisposable & {
  readonly service: Awaited<ReturnType<Stage['service']>>;
  /** The GPUs, none for the simulation. */
  readonly gpus: readonly ComfyStandIn[];
  /** From now on, this share of runs fails. */
  breaks(share: number): Promise<void>;
};

/** `places`: how many runs execute at the same time. */
export async function openGround(
  executor: Executor,
  stage: Stage,
  places: number,
  offers: readonly Offer[],
  more: readonly string[] = [],
): Promise<Ground> {
  const gpus =
    executor === 'comfyui'
      ? await Promise.all(
          Array.from({ length: places }, async (_, at) => {
            const gpu = new ComfyStandIn({ folder: stage.path(`gpu-${at}`) });
            await gpu.start();
            return gpu;
          }),
        )
      : [];
  const entries = offers.map((offer) =>
    executor === 'comfyui' ? workflowOf(stage, offer) : simulated(offer, places),
  );
  const servers = gpus.flatMap(({ url }) => ['--comfyui', url]);
  const file = stage.write('deployments.json', JSON.stringify(entries));
  const service = await stage.service(['--deployments', file, '--seed', '7', ...servers, ...more]);
  return {
    service,
    gpus,
    async breaks(share) {
      if (executor === 'rehearsal') return stage.setFaults({ fail: share });
      for (const gpu of gpus) gpu.breaks = (text) => crc32(text) / 2 ** 32 < share;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(gpus.map((gpu) => gpu.kill()));
    },
  };
}

const simulated = ({ name, seconds, isTooLarge }: Offer, places: number): object => ({
  name,
  concurrencyLimit: places,
  coldStartSeconds: 0,
  runSeconds: seconds,
  pictureSize: 16,
  ...(isTooLarge && { vramGb: 1000 }),
});

function workflowOf(stage: Stage, { name, seconds, isTooLarge }: Offer): object {
  const graph = {
    ...portrait({ seconds }),
    '1': { class_type: 'PrimitiveString', inputs: { value: '' } },
    ...(isTooLarge && {
      '5': {
        class_type: 'Fail',
        inputs: { image: ['3', 0], message: 'Allocation', exception_type: 'torch.OutOfMemoryError' },
      },
    }),
  };
  stage.write(`${name}_api.json`, JSON.stringify(graph));
  return {
    name,
    workflow: `${name}_api.json`,
    inputs: { number: ['1.value'], prompt: ['3.text'], seed: ['3.seed'] },
  };
}
