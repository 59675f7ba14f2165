// Defines which version of the batch's behaviour a workflow run follows. A change of commands, the snapshot or activity
// arguments gets the next number, and the code branches on `state.version`, so that running batches still replay.
//
//   3  the oldest that is left
//   4  no wait is without a reason: files, grants and passes that cannot be read pause the batch or are named
//
// WRITES stays one release behind READS: while old and new workers share a queue, new batches use a version that both
// understand. A workflow run keeps its version; a continue-as-new may raise it but never lowers it. Nothing was released before
// 0.1.0, so both are equal once.

/** The oldest and the newest version that this code can continue. */
export const OLDEST = 3;
export const READS = 4;

/** The version of the batches that this code starts. */
export const WRITES = 4;

/** Returns the version. Throws a plain error if it is too new or too old: Temporal then retries the task on another worker. */
export function readableVersion(version: number): number {
  if (version >= OLDEST && version <= READS) return version;
  if (version < OLDEST)
    throw new Error(
      `E514: this worker understands batches from version ${OLDEST} on, and this one has version ${version}: finish it with the release that made it, or run its sheet again as a new batch`,
    );
  throw new Error(
    `this worker understands batches up to version ${READS}, and this one has version ${version}`,
  );
}
