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

export const pauseHint = (batch: string, kind: PauseKind | undefined): string =>
  HINTS[kind ?? 'unreachable'](`runsheet resume ${batch}`);
