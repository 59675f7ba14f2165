// The entries of the error table about batches inside other applications.

import { EXIT } from './exit-codes.ts';
import { entry } from './entry.ts';

export const APPLICATION_ENTRIES = {
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
