// Defines which version of the batch's behaviour a workflow run follows. A change of commands, the snapshot or activity
// arguments gets the next number, and the code branches on `state.version`, so that running batches still replay.
//
//   4  the oldest that is left
//   5  the batch wakes during a reading of the run lists, and asks for the service's time, so that no jump of Temporal's clock
//      proves a run absent
//   6  what repeats has an end: retries wait for a first success, unclear answers and absences count in the circuit breaker
//   7  a resume does not end the trial of a batch: what still ends alike pauses it again
//   8  rows for which the budget has no room do not hold a trial open; no pause for attempts whose absence is about to be proved
//   9  lists that cannot be read for a moment pause nothing, and they are read again after ten of the service's gaps at most
//
// WRITES stays one release behind READS: while old and new workers share a queue, new batches use a version that both
// understand. A workflow run keeps its version; a continue-as-new may raise it but never lowers it. They are equal only now,
// because no release has other batches.

/** The oldest and the newest version that this code can continue. */
export const OLDEST = 4;
export const READS = 9;

/** The version of the batches that this code starts. */
export const WRITES = 9;

/** Returns the version. Throws a plain error if it is too new or too old: Temporal then retries the task on another worker. */
export function readableVersion(version: number): number {
  if (version >= OLDEST && version <= READS) return version;
  if (version < OLDEST)
    throw new Error(
      `E514: an earlier version of runsheet made this batch (behaviour ${version}; this worker continues from ${OLDEST} on): finish it with the version that made it, or run its sheet again as a new batch`,
    );
  throw new Error(
    `this worker understands batches up to version ${READS}, and this one has version ${version}`,
  );
}
