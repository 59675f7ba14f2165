// The workflows by name: the durable API. A name here never changes its meaning.

export { runsheetBatch } from './batch.ts';
