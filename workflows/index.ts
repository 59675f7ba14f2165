// The workflow types. They are a durable API: a name never changes its meaning.

export { runsheetBatch } from './batch-workflow.ts';
export { runsheetPool } from './pool-workflow.ts';
export { runsheetMembers } from './members.ts';
export { runsheetFiring } from './firing-workflow.ts';
export { runsheetPipeline } from './pipeline-workflow.ts';
