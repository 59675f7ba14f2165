/** One run of a row, in seconds that are paid. */
type SampleRun = { readonly coldStart: number; readonly run: number };

/** A row that has ended: of an earlier batch, or one of the first rows of the batch itself. */
export type Sample = {
  readonly gpu: string;
  /** Rows of one batch resemble each other more than rows of two batches. */
  readonly batch: string;
  /** Whether it was among the first rows of its batch, for which the service had to start containers. */
  readonly isOpening: boolean;
  /** Its runs, oldest first. */
  readonly runs: readonly SampleRun[];
  /** How long its last run waited for a container; absent if its batch sent more runs than the deployment has containers. */
  readonly queueSeconds?: number;
};
