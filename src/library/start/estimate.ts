// Re-exports the forecasts of cost and time for commands and programs.

export { canaryReport, estimateOf } from '../../results/estimate.ts';
