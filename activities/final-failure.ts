// An error of ours that another attempt would not mend, as Temporal shows it.

import { ApplicationFailure } from '@temporalio/common';
import type { RunsheetError } from '../src/errors/error.ts';

export const finalFailure = ({ code, message, hint }: RunsheetError): ApplicationFailure =>
  ApplicationFailure.nonRetryable(`${code}: ${message}${hint === undefined ? '' : `; ${hint}`}`, code, {
    message,
    hint,
  });
