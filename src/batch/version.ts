// Defines which version of the batch's behaviour a workflow run follows. A change of commands, the snapshot or activity
// arguments gets the next number, and the code branches on `state.version`, so that running batches still replay.
//
//   1  the first
//   2  groups may wait for the next ends of runs and carry them; progress, parts and polls follow the time that runs take
//   3  a batch whose runs end often rests before it continues as new, and every other one continues in a task of a timer
//   4  no wait is without a reason: files, grants and passes that cannot be read pause the batch or are named
//
// WRITES stays one release behind READS: while old and new workers share a queue, new batches use a version that both
// understand. A workflow run keeps its version; a continue-as-new may raise it but never lowers it. Nothing was released before
// 0.1.0, so both are equal once.

/** The newest version that this code can continue. */
export const READS = 4;

/** The version of the batches that this code starts. */
export const WRITES = 4;

/** Returns the version. Throws a plain error if it is too new: Temporal then retries the task on another worker. */
export function readableVersion(version: number): number {
  if (version <= READS) return version;
  throw new Error(
    `this worker understands batches up to version ${READS}, and this one has version ${version}`,
  );
}
