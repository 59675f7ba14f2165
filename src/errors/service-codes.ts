// The entries of the error table about the run list of a service, and about the keys of the local one.

import { EXIT } from './exit-codes.ts';
import { entry } from './entry.ts';

const { unreachable, usage } = EXIT;

export const SERVICE_ENTRIES = {
  E610: entry<object>(
    usage,
    () => '--token is refused: every user of the machine can read the arguments of a command',
    () =>
      'put the keys into a file, one per line, and use --token-file <file>; or set RUNSHEET_SERVICE_TOKEN',
  ),
  E611: entry<{ file: string; why: string }>(
    usage,
    (f) => `--token-file ${f.file} ${f.why}`,
    () => 'write one key per line: <key>, or <owner>:<key>',
  ),
  E522: entry<{ batch: string; reason: string }>(
    unreachable,
    (f) =>
      `batch ${f.batch} adds up in its folder, but the run list of the service was not read: ${f.reason}`,
    (f) => `check the service: runsheet doctor; or leave the list out: runsheet verify ${f.batch} --no-lists`,
  ),
} as const;
