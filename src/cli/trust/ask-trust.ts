// Asks a user on a terminal whether the settings of the current folder may count, before a command reads them. A script is refused when
// it reads them (E615).

import { isRunsheetError } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { choicesIn, ownNotes } from '../../host/config.ts';
import { linesOf } from '../../host/settings-files.ts';
import { isTrusted, trust, type Found } from '../../host/trust-notes.ts';
import { ask } from '../run/answer-policy.ts';

export type Terminal = Pick<NodeJS.Process, 'stdin' | 'stderr'>;

export const canAsk = ({ stdin, stderr }: Terminal): boolean => stdin.isTTY && stderr.isTTY;

/** The command reports what is wrong with the file. */
export async function askSettings(terminal: Terminal, path: string): Promise<void> {
  if (!canAsk(terminal)) return;
  try {
    const found = choicesIn(path);
    if (found !== undefined && !isTrusted(ownNotes(), found)) await askTrust(terminal, found, linesOf(found));
  } catch (error) {
    if (!isRunsheetError(error)) throw error;
  }
}

/** Whether the user trusts what was found there. */
export async function askTrust(terminal: Terminal, found: Found, lines: readonly string[]): Promise<boolean> {
  const text = [
    `${found.path} is not trusted as it is now. It says:`,
    ...lines.map((line) => `  ${line}`),
    'Its author chooses where your rows go, and with which key. Do you trust it? [y/n] ',
  ]
    .map(terminalLine)
    .join('\n');
  const isYes = await ask(terminal, text, { y: true, yes: true, n: false, no: false });
  if (isYes) trust(ownNotes(), found);
  return isYes ?? false;
}
