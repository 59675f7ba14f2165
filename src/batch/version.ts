// Which version of the batch's behaviour a workflow run follows. A change that alters commands, the snapshot or the
// arguments of activities gets the next number; the code branches on `state.version`, so that running batches replay.
//
//   1  the first
//
// WRITES stays one release behind READS: while old and new workers share a queue, new batches are begun in a version that
// both understand. A workflow run keeps its version; a continue-as-new may raise it and never lowers it.

/** The newest version that this code can continue. */
export const READS = 1;

/** The version in which this code begins batches. */
export const WRITES = 1;

/** The version of a workflow run. Throws a plain error where a newer worker must take over: Temporal retries the task. */
export function readableVersion(version: number): number {
  if (version <= READS) return version;
  throw new Error(
    `this worker understands batches up to version ${READS}, and this one has version ${version}`,
  );
}
