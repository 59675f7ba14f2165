// The entries of the error table about schedules.

import { EXIT } from './exit-codes.ts';
import { didYouMean, entry, list } from './entry.ts';

const { usage } = EXIT;

export const SCHEDULE_ENTRIES = {
  E560: entry<{ name: string; known: readonly string[]; near: string | undefined }>(
    usage,
    (f) => `there is no schedule ${f.name}`,
    (f) =>
      [didYouMean(f.near), f.known.length > 0 ? `schedules: ${list(f.known)}` : undefined]
        .filter(Boolean)
        .join(' ') || 'to make one, see: runsheet schedule create --help',
  ),
  E561: entry<{ name: string; reason: string }>(
    usage,
    (f) => `a firing of the schedule ${f.name} was refused: ${f.reason}; it bought nothing`,
    (f) =>
      `if you want its batch: runsheet schedule trigger ${f.name}; if the state folder is new, create the schedule again with --replace`,
  ),
  E562: entry<{ name: string; changes: readonly string[] }>(
    usage,
    (f) => `the schedule ${f.name} exists already and differs: ${list(f.changes, '; ')}`,
    () => 'to change it, add --replace; otherwise choose another name',
  ),
} as const;
