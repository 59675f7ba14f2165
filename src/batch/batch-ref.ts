// How code refers to a batch.

/** The batch's name, and the birth mark that distinguishes it from other batches with that name. */
export type BatchName = { readonly batch: string; readonly mark: string };

/** The same with the folder of its files. */
export type BatchRef = BatchName & { readonly folder: string };

/** A run of a workflow. */
export type Execution = { readonly workflowId: string; readonly runId: string };
