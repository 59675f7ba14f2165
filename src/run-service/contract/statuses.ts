/** Every status that a run may have, in the order of its life. */
export const STATUSES = [
  'not-started',
  'queued',
  'started',
  'running',
  'uploading',
  'success',
  'failed',
  'timeout',
  'cancelled',
] as const;

/** Those of a run that has ended. */
export const TERMINAL = [
  'success',
  'failed',
  'timeout',
  'cancelled',
] as const satisfies (typeof STATUSES)[number][];
