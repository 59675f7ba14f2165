// The entries of the error table about the keys of the local run service.

import { EXIT } from './exit-codes.ts';
import { entry } from './entry.ts';

const { usage } = EXIT;

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
} as const;
