// What helps a paused batch, by what it is paused for.

import type { PauseKind } from '../batch/pausing.ts';

const HINTS: Readonly<Record<PauseKind, (resume: string) => string>> = {
  refused: (resume) =>
    `mend the cause (a key is read again from RUNSHEET_API_KEY_FILE, or from RUNSHEET_API_KEY when a worker starts), then: ${resume}`,
  unreachable: (resume) => `it goes on by itself when the service answers; ${resume} tries at once`,
  unread: (resume) =>
    `mend the cause (a key is read again from RUNSHEET_API_KEY_FILE, or from RUNSHEET_API_KEY when a worker starts); it goes on by itself, and ${resume} tries at once`,
  store: (resume) => `make room or mend the folder, then: ${resume}; it looks by itself now and then, too`,
  doubt: (resume) =>
    `${resume} --uncertain unknown|fail|resubmit decides what becomes of them; resubmit may buy them twice`,
};

export const pauseHint = (batch: string, kind: PauseKind | undefined): string =>
  HINTS[kind ?? 'unreachable'](`runsheet resume ${batch}`);
