// Asks a user on a terminal whether to trust the settings of the current folder, before a command reads
// them. A script is refused when it reads them (E615).

import { isRunsheetError } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { choicesIn, ownNotes } from '../../host/settings/config.ts';
import { linesOf } from '../../host/settings/settings-files.ts';
import { isTrusted, trust, type TrustSubject } from '../../host/settings/trust-notes.ts';
import { ask } from '../run/answer-policy.ts';

export type Terminal = Pick<NodeJS.Process, 'stdin' | 'stderr'>;

export const canAsk = ({ stdin, stderr }: Terminal): boolean => stdin.isTTY && stderr.isTTY;

/** An invalid file is reported by the command that reads it. */
export async function askSettings(terminal: Terminal, path: string): Promise<void> {
  if (!canAsk(terminal)) return;
  try {
    const settings = choicesIn(path);
    if (settings !== undefined && !isTrusted(ownNotes(), settings))
      await askTrust(terminal, settings, linesOf(settings));
  } catch (error) {
    if (!isRunsheetError(error)) throw error;
  }
}

/** Whether the user trusts the file. */
export async function askTrust(
  terminal: Terminal,
  settings: TrustSubject,
  lines: readonly string[],
): Promise<boolean> {
  const text = [
    `${settings.path} is not trusted as it is now. It says:`,
    ...lines.map((line) => `  ${line}`),
    'Its author chooses where your rows go, and with which key. Do you trust it? [y/n] ',
  ]
    .map(terminalLine)
    .join('\n');
  const isYes = await ask(terminal, text, { y: true, yes: true, n: false, no: false });
  if (isYes) trust(ownNotes(), settings);
  return isYes ?? false;
}
