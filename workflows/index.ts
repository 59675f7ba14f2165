// The workflow types. They are a durable API: a name never changes its meaning.

export { runsheetBatch } from './batch.ts';
export { runsheetPool } from './pool.ts';
export { runsheetMembers } from './members.ts';
export { runsheetFiring } from './firing.ts';
export { runsheetPipeline } from './pipeline.ts';
