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

export const TERMINAL = [
  'success',
  'failed',
  'timeout',
  'cancelled',
] as const satisfies (typeof STATUSES)[number][];

export type Status = (typeof STATUSES)[number];

/** Whether a status is final. An unknown status never counts as final, because services add new ones. */
export const isTerminal = (status: string): status is (typeof TERMINAL)[number] =>
  TERMINAL.some((candidate) => candidate === status);

/** Whether a status says that a machine has the run. 'queued' does, because runs that wait for a machine are 'not-started'. */
export const hasMachine = (status: string): boolean => isOpen(status) && status !== 'not-started';

/** Whether a status says that the run has not ended; an unknown status does not. */
export const isOpen = (status: string): boolean =>
  STATUSES.some((candidate) => candidate === status) && !isTerminal(status);
