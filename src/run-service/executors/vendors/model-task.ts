// A model at a vendor, as a task of the run service.

import { list, problem } from '../../../errors/error.ts';
import { uuidOf } from '../../identity.ts';
import { isVendor, vendorFacts, WORKFLOW_VENDORS } from '../../../options/facts/server-kind.ts';
import { Unreachable, type Backend, type DescribedModel } from '../backend.ts';
import { describedPrice } from '../vendor-price.ts';
import { describedInputs } from '../workflow/described-inputs.ts';
import type { GivenModel, GivenWorkflow } from '../given-gpus.ts';
import { addressOf } from '../server-address.ts';
import { unusableVendor } from '../unusable-server.ts';
import type { InputsTask, Task } from '../task.ts';
import { workflowOf } from '../workflow/workflow.ts';
import { readGraph } from '../workflow/workflow-text.ts';

type ModelTask = Extract<InputsTask, { kind: 'model' }>;

/**
 * Asks the vendor for the inputs of the model; a workflow tells its own. `tasks`: those of earlier commands, which
 * serve while the vendor does not answer. Throws E602 if it has no such model, E614 if it does not answer.
 */
export async function modelTask(
  { vendor, model: name, name: deployment, inputs, runTimeoutSeconds, workflow, price: stated }: GivenModel,
  backends: readonly Backend[],
  tasks: Iterable<Task>,
): Promise<{ readonly task: ModelTask; readonly notes: readonly string[] }> {
  const backend = backends.find(
    ({ kind, address }) => kind === vendor && (address === undefined || address === addressOf(name)),
  );
  const described = await backend?.model?.(name).catch((error: unknown) => {
    if (!(error instanceof Unreachable)) throw error;
    if (error.answer?.status === 404 || error.answer?.status === 422)
      throw problem('E602', {
        what: `${vendor} has no model ${name}`,
        hint: 'copy its name from its page there',
      });
    const before = earlierTask({ vendor, model: name, workflow }, tasks);
    if (before !== undefined) return { model: before.model, inputs: before.inputs, price: before.price };
    throw unusableVendor(isVendor(vendor) ? vendor : name, vendor, error);
  });
  const { model = name } = described ?? {};
  const told = vendorFacts(vendor)?.reportsCost ? ({ per: 'told' } as const) : undefined;
  const price = stated ?? describedPrice(described?.price) ?? told;
  const task = {
    kind: 'model',
    id: uuidOf('model', vendor, model),
    name: deployment,
    vendor,
    model,
    inputs: inputs === undefined ? inputsOf(described) : describedInputs(inputs),
    isPaid: isVendor(vendor),
    runTimeoutSeconds,
    ...(price && { price }),
  } as const;
  return workflow === undefined ? { task, notes: [] } : withWorkflow(task, workflow);
}

/** A container of ComfyUI runs any workflow, so the workflow is part of what the deployment is. */
function withWorkflow(task: ModelTask, file: GivenWorkflow) {
  const { vendor, model } = task;
  if (!vendorFacts(vendor)?.runsWorkflows)
    throw problem('E602', {
      what: `${vendor} runs models and no workflows of yours`,
      hint: `workflows run at a ComfyUI (--comfyui), a Comfy API (--comfy-api), or --model ${list(WORKFLOW_VENDORS)}:<endpoint>`,
    });
  const { nodes, notes } = readGraph(file);
  const workflow = workflowOf(file.name, nodes, undefined, file.inputs);
  return {
    task: { ...task, id: uuidOf('model', vendor, model, workflow.id), inputs: workflow.inputs, workflow },
    notes,
  };
}

type Described = DescribedModel | Pick<InputsTask, 'inputs'> | undefined;

function inputsOf(described: Described): InputsTask['inputs'] {
  if (described !== undefined && 'inputs' in described) return described.inputs;
  const { schema, document = schema } = described ?? {};
  return schema === undefined ? undefined : describedInputs(schema, document);
}

/** The last task of this model, of whichever version it was. */
const earlierTask = (
  { vendor, model: name, workflow }: Pick<GivenModel, 'vendor' | 'model' | 'workflow'>,
  tasks: Iterable<Task>,
): ModelTask | undefined =>
  [...tasks]
    .filter((task): task is ModelTask => task.kind === 'model' && task.vendor === vendor)
    .filter((task) => (task.workflow === undefined) === (workflow === undefined))
    .findLast(({ model }) => model === name || model.startsWith(`${name}:`));
