// The useful concurrency of a GPU, as far as the batch knows it; sending-limits/adaptive-cap.ts finds it.

/** The state of a lane's cap. */
export type AdaptiveCap = {
  cap: number;
  /** The cap after the latest queueing, or the runs that the service held at the latest 429. */
  knee?: number;
  /** Rounds above the knee without queueing; negative: rounds to wait there. */
  quiet: number;
  /** Only runs that were accepted after this time count, by the batch's clock. */
  since: number;
  /** How many of them have ended, and the most runs that were outstanding at such an end. */
  ends: number;
  peak: number;
  /** How long some of them queued, and then occupied a machine, in milliseconds. */
  samples: (readonly [queueMs: number, machineMs: number])[];
  /** Runs that waited for a machine to boot, and the shortest queue time seen on this GPU. */
  cold: number;
  coldQueueMs?: number;
  /** Whether the service shows queueing times; absent before the first end. */
  isTimed?: boolean;
  /** A 429 halved the cap, and no run that was accepted since then has ended. */
  isHalved?: true;
  /** The number in the latest entry of the log. */
  logged?: number;
};

/**
 * The useful concurrency of one GPU: `found` once runs queued or were turned away, `untimed` if the service shows no
 * queueing times.
 */
export type UsefulConcurrency = {
  readonly gpu?: string;
  readonly concurrency: number;
  readonly basis: 'found' | 'searching' | 'untimed';
};
