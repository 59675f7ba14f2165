// A model at a vendor, as a task of the run service.

import { errorMessage, problem } from '../../../../errors/error.ts';
import { uuidOf } from '../../../identity.ts';
import type { Vendor } from '../../../../options/server-kind.ts';
import { Unreachable, type Backend, type DescribedModel } from '../backend.ts';
import { describedInputs } from '../described-inputs.ts';
import type { GivenModel } from '../given-gpus.ts';
import type { InputsTask, Task } from '../task.ts';

type ModelTask = Extract<InputsTask, { kind: 'model' }>;

/**
 * Asks the vendor for the inputs of the model. `tasks`: those of earlier commands, which serve while the vendor does not
 * answer. Throws E602 if it has no such model, E614 if it does not answer.
 */
export async function modelTask(
  { vendor, model: name, name: deployment, inputs, runTimeoutSeconds, price: stated }: GivenModel,
  backends: readonly Backend[],
  tasks: Iterable<Task>,
): Promise<InputsTask> {
  const backend = backends.find(({ kind }) => kind === vendor);
  const described = await backend?.model?.(name).catch((error: unknown) => {
    if (!(error instanceof Unreachable)) throw error;
    if (error.answer?.status === 404 || error.answer?.status === 422)
      throw problem('E602', {
        what: `${vendor} has no model ${name}`,
        hint: 'copy its name from its page there',
      });
    const before = earlierTask(vendor, name, tasks);
    if (before !== undefined) return { model: before.model, inputs: before.inputs };
    throw problem('E614', { url: vendor, reason: errorMessage(error), why: 'vendor' });
  });
  const { model = name } = described ?? {};
  const price = stated ?? (backend?.tellsCost === true ? ({ per: 'told' } as const) : undefined);
  return {
    kind: 'model',
    id: uuidOf('model', vendor, model),
    name: deployment,
    vendor,
    model,
    inputs: inputs === undefined ? inputsOf(described) : describedInputs(inputs),
    isPaid: true,
    runTimeoutSeconds,
    ...(price && { price }),
  };
}

type Described = DescribedModel | Pick<InputsTask, 'inputs'> | undefined;

function inputsOf(described: Described): InputsTask['inputs'] {
  if (described !== undefined && 'inputs' in described) return described.inputs;
  const { schema, document = schema } = described ?? {};
  return schema === undefined ? undefined : describedInputs(schema, document);
}

/** The last task of this model, of whichever version it was. */
const earlierTask = (vendor: Vendor, name: string, tasks: Iterable<Task>): ModelTask | undefined =>
  [...tasks]
    .filter((task): task is ModelTask => task.kind === 'model' && task.vendor === vendor)
    .findLast(({ model }) => model === name || model.startsWith(`${name}:`));
