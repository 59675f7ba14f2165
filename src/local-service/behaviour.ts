// Where the specification and the real service differ, the local one can be either. The specification is the default; the
// other shows what its published source does.

import { GPUS } from '../batch/gpu.ts';

export type BehaviourName = 'specification' | 'vendor';

export type Behaviour = {
  readonly name: BehaviourName;
  /** What the `gpu` of Queue Run may be. */
  readonly gpus: readonly [string, ...string[]];
  /** The GPU that a run gets: what it asks for, or what its deployment has. */
  gpuOf(asked: string | undefined, deployment: string): string;
  /** Whether a value of `inputs` may be null or an object. */
  readonly freeFormInputs: boolean;
  /** Whether Get Run shows `workflow_api`. */
  readonly showsWorkflowApi: boolean;
  /** Whether a place within a body or a list is a number in `loc`, or text as everything else there. */
  readonly numbersInLoc: boolean;
};

const SPECIFICATION: Behaviour = {
  name: 'specification',
  gpus: GPUS,
  gpuOf: (asked, deployment) => asked ?? deployment,
  freeFormInputs: true,
  showsWorkflowApi: true,
  numbersInLoc: false,
};

const VENDOR: Behaviour = {
  name: 'vendor',
  gpus: ['CPU', ...GPUS, 'H200', 'B200'],
  // A deployment that has a GPU of its own never gives it up.
  gpuOf: (_asked, deployment) => deployment,
  freeFormInputs: false,
  showsWorkflowApi: false,
  numbersInLoc: true,
};

export const behaviourOf = (name: BehaviourName): Behaviour => (name === 'vendor' ? VENDOR : SPECIFICATION);
