// Describes the program of a deployment: what is executed, where, and with which files and variables.

import { terminalLine } from '../../errors/outside-text.ts';
import type { ShownProgram } from '../../library/kept-program.ts';

const HASH_SHOWN = 16;

export const programLines = ({
  command,
  stays,
  folder,
  files,
  environment,
  secrets,
}: ShownProgram): readonly string[] =>
  [
    `  runs        ${command}`,
    ...(stays
      ? [
          '  stays       one process for each GPU; cancel and the time limit end it, and the model is loaded again',
        ]
      : []),
    `  named in    ${folder}`,
    ...files.map(
      ({ path, sha256, edit }, at) =>
        `  ${at === 0 ? 'files' : '     '}       ${path}  sha256 ${sha256.slice(0, HASH_SHOWN)}…${edit === undefined ? '' : ` (${edit.slice(path.length + 1)})`}`,
    ),
    `  variables   ${[...environment, ...secrets.map((name) => `${name} (not kept)`)].join(', ') || 'none'}`,
    '  lost run    executed once more if the machine or the process around it dies, which is said',
  ].map(terminalLine);
