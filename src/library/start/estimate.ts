// What commands and programs ask about the cost and time of a batch.

export { canaryReport, estimateOf } from '../../results/estimate.ts';
