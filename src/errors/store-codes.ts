// The entries of the error table about a place of batches in S3.

import { EXIT } from './exit-codes.ts';
import { entry } from './entry.ts';

export const STORE_ENTRIES = {
  E612: entry<{ place: string; reason: string; hint: string }>(
    EXIT.unreachable,
    (f) => `${f.place} cannot be used: ${f.reason}`,
    (f) => f.hint,
  ),
} as const;
