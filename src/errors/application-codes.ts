// The entries of the error table about workers, and about batches inside other applications.

import { EXIT } from './exit-codes.ts';
import { entry, list } from './entry.ts';
import { shellWord } from './outside-text.ts';

export const APPLICATION_ENTRIES = {
  E411: entry<{ folder: string; out: string }>(
    EXIT.inputRefused,
    (f) => `this worker may not use ${f.folder}: it is not in ${f.out}`,
    (f) =>
      `start the worker where it may use it: RUNSHEET_OUT=${shellWord(f.folder.replace(/[/\\][^/\\]*$/, ''))} runsheet worker; then repeat the command with --again. With embedded servers, --out does both`,
  ),
  E412: entry<{ members: readonly string[] }>(
    EXIT.usage,
    (f) =>
      `this process generated its own webhook secret, and ${list(f.members)} ${f.members.length === 1 ? 'uses' : 'use'} another one`,
    () =>
      'set the same RUNSHEET_WEBHOOK_SECRET or RUNSHEET_WEBHOOK_SECRET_FILE for all workers and receivers; create one with: openssl rand -hex 32',
  ),
  // The workflow that finds it cannot use this table; it has the same text.
  E415: entry<object>(
    EXIT.usage,
    () => 'the worker of this task queue has no workflow runsheetBatch',
    () =>
      "add this line to the application's workflows: export * from 'runsheet/workflow'; or name the queue of a runsheet worker with the option taskQueue",
  ),
  E416: entry<{ what: string; hint: string }>(
    EXIT.usage,
    (f) => `the worker cannot use the RunsheetPlugin: ${f.what}`,
    (f) => f.hint,
  ),
};
