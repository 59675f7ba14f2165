import { GPUS } from '../batch/gpu.ts';
import { nearest } from '../errors/error.ts';
import { shortened } from './sheet-record.ts';

/** The facts of E201 for a GPU that the service does not have; `where` names the cell or the option. */
export function notAGpu(gpu: string, where: string) {
  return {
    what: `gpu ${JSON.stringify(shortened(gpu))} of ${where} is not a GPU of this service`,
    allowed: GPUS,
    near: nearest(gpu, GPUS),
  };
}
