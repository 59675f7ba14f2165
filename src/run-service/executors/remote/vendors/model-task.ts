// A model at a vendor, as a task of the run service.

import { errorMessage, problem } from '../../../../errors/error.ts';
import { uuidOf } from '../../../identity.ts';
import { Unreachable, type Backend } from '../backend.ts';
import { describedInputs } from '../described-inputs.ts';
import type { GivenModel } from '../given-gpus.ts';
import type { InputsTask } from '../task.ts';

/** Asks the vendor for the inputs of the model. Throws E602 if it has no such model, E614 if it does not answer. */
export async function modelTask(
  { vendor, model: name, name: deployment, runTimeoutSeconds, price: stated }: GivenModel,
  backends: readonly Backend[],
): Promise<InputsTask> {
  const backend = backends.find(({ kind }) => kind === vendor);
  const described = await backend?.model?.(name).catch((error: unknown) => {
    if (!(error instanceof Unreachable)) throw error;
    if (error.answer?.status === 404 || error.answer?.status === 422)
      throw problem('E602', {
        what: `${vendor} has no model ${name}`,
        hint: 'copy its name from its page there',
      });
    throw problem('E614', { url: vendor, reason: errorMessage(error), why: 'vendor' });
  });
  const { model = name, schema, document = schema } = described ?? {};
  const price = stated ?? (backend?.tellsCost === true ? ({ per: 'told' } as const) : undefined);
  return {
    kind: 'model',
    id: uuidOf('model', vendor, model),
    name: deployment,
    vendor,
    model,
    inputs: schema === undefined ? undefined : describedInputs(schema, document),
    isPaid: true,
    runTimeoutSeconds,
    ...(price && { price }),
  };
}
