// Tells the user how to continue a paused batch, for each kind of pause.

import type { PauseKind } from '../batch/pause-kinds.ts';

const KEY = 'workers read RUNSHEET_API_KEY_FILE again, and RUNSHEET_API_KEY only when they start';

const HINTS: Readonly<Record<PauseKind, (resume: string) => string>> = {
  blocked: (resume) => `fix the cause (${KEY}), then: ${resume}`,
  unreachable: (resume) =>
    `it continues automatically when the service answers; to retry immediately: ${resume}`,
  unreadable: (resume) =>
    `fix the cause (${KEY}); it continues automatically when runs can be read; to retry immediately: ${resume}`,
  files: (resume) =>
    `it continues automatically when the files can be fetched, and no run is lost; to retry immediately: ${resume}`,
  store: (resume) => `free disk space or repair the folder, then: ${resume} (it also retries automatically)`,
  unconfirmed: (resume) =>
    `decide about them: ${resume} --unconfirmed unknown (or fail, or resubmit, which may pay for a row twice)`,
};

/** `serversEnd`: the embedded servers end with the command, and nothing continues the batch then. */
export function pauseHint(batch: string, kind: PauseKind | undefined, serversEnd = false): string {
  const resume = `runsheet resume ${batch}`;
  if (serversEnd && kind !== undefined && CONTINUES.has(kind))
    return `the servers end with this command; when the cause is gone: ${resume}`;
  // A newer worker may name a kind that this command does not know.
  return ((HINTS as Partial<typeof HINTS>)[kind ?? 'unreachable'] ?? HINTS.unreachable)(resume);
}

/** Pauses that end without the user, as long as servers run. */
const CONTINUES: ReadonlySet<PauseKind> = new Set(['unreachable', 'files']);
