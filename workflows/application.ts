// runsheet/workflow: the exports for an application's own workflows. The application re-exports everything from here,
// because the batch runs on its worker.

export { runsheetBatch } from './batch-workflow.ts';
export { runBatch, type BatchSummary } from './run-batch.ts';
export type { ChildBatchOptions } from './run-batch.ts';
