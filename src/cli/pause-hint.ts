// What helps a paused batch, by what it is paused for.

import type { PauseKind } from '../batch/pause-kinds.ts';

const KEY = 'a key is read again from RUNSHEET_API_KEY_FILE, or from RUNSHEET_API_KEY when a worker starts';

const HINTS: Readonly<Record<PauseKind, (resume: string) => string>> = {
  blocked: (resume) => `mend the cause (${KEY}), then: ${resume}`,
  unreachable: (resume) => `it continues when the service answers; ${resume} tries immediately`,
  unreadable: (resume) =>
    `mend the cause (${KEY}); it continues when runs can be read, and ${resume} tries immediately`,
  files: (resume) =>
    `it continues when the files can be fetched; ${resume} tries immediately. Runs that have ended are kept`,
  store: (resume) => `make room or mend the folder, then: ${resume}; it also tries again now and then`,
  unconfirmed: (resume) =>
    `${resume} --unconfirmed unknown|fail|resubmit decides about them; resubmit may buy them twice`,
};

export const pauseHint = (batch: string, kind: PauseKind | undefined): string =>
  HINTS[kind ?? 'unreachable'](`runsheet resume ${batch}`);
