// The two behaviours of the local service where the specification and the real service differ. The specification is the
// default; the other one follows the real service's published source.

import { GPUS } from '../options/facts/gpu.ts';
import type { BEHAVIOURS } from './service-settings.ts';

export type BehaviourName = (typeof BEHAVIOURS)[number];

export type Behaviour = {
  readonly name: BehaviourName;
  readonly gpus: readonly [string, ...string[]];
  /** The GPU of a run: the requested GPU or that of its deployment. */
  gpuOf(asked: string | undefined, deployment: string): string;
  /** Whether a value of `inputs` may be null or an object. */
  readonly freeFormInputs: boolean;
  /** Whether Get Run shows `workflow_api`. */
  readonly showsWorkflowApi: boolean;
  /** Whether positions in `loc` are numbers, or text like its other elements. */
  readonly numbersInLoc: boolean;
};

const SPECIFICATION: Behaviour = {
  name: 'specification',
  gpus: GPUS,
  gpuOf: (requested, deployment) => requested ?? deployment,
  freeFormInputs: true,
  showsWorkflowApi: true,
  numbersInLoc: false,
};

const VENDOR: Behaviour = {
  name: 'vendor',
  gpus: ['CPU', ...GPUS, 'H200', 'B200'],
  // A deployment with its own GPU ignores the requested one.
  gpuOf: (_asked, deployment) => deployment,
  freeFormInputs: false,
  showsWorkflowApi: false,
  numbersInLoc: true,
};

export const behaviourOf = (name: BehaviourName): Behaviour => (name === 'vendor' ? VENDOR : SPECIFICATION);
