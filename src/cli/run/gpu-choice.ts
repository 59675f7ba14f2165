// A deployment with a GPU of its own may ignore the GPU that a row asks for, and the service does not say so: the rows would
// run on another GPU, at another price. So a user must accept that first.

import { problem } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import type { CreatedBatch } from '../../create-batch/create-batch.ts';
import { ask } from './ask.ts';
import type { Printer } from '../context.ts';
import { plural } from '../format.ts';

type Planned = Pick<CreatedBatch, 'file'> & {
  readonly laidOut: Pick<NonNullable<CreatedBatch['laidOut']>, 'gpus'> | undefined;
};

/** The rows that ask for another GPU than the deployment's. */
type Ignored = { readonly own: string; readonly asked: readonly string[]; readonly rows: number };

/** undefined if no row asks for another GPU, or if it is known that the service honours it, as in a rehearsal. */
export function ignoredGpus({ file, laidOut }: Planned): Ignored | undefined {
  const { gpu: own } = file.deployment;
  if (own === undefined || file.service.rehearsal || laidOut === undefined) return undefined;
  const others = Object.entries(laidOut.gpus).filter(([gpu]) => gpu !== '' && gpu !== own);
  if (others.length === 0) return undefined;
  return { own, asked: others.map(([gpu]) => gpu), rows: others.reduce((sum, [, rows]) => sum + rows, 0) };
}

/** What `plan` says. */
export const ignoredGpuLines = (planned: Planned): readonly string[] => {
  const ignored = ignoredGpus(planned);
  return ignored === undefined ? [] : [terminalLine(`            ${ignoredText(ignored)}`)];
};

const ignoredText = ({ own, asked, rows }: Ignored): string =>
  `${plural(rows, 'row')} ${rows === 1 ? 'asks' : 'ask'} for ${asked.join(', ')}, but the deployment has ${own}: the service may run them on ${own} without saying so`;

type Asking = {
  readonly printer: Printer;
  readonly process: Pick<NodeJS.Process, 'stdin' | 'stderr'>;
  /** Whether the answer can come from the user. */
  readonly asks: boolean;
};

const YES_OR_NO = { y: true, yes: true, n: false, no: false };

/** Asks on a terminal. Throws E314 in a script, and if the user does not accept it. */
export async function confirmGpus({ printer, process, asks }: Asking, planned: Planned): Promise<void> {
  const ignored = ignoredGpus(planned);
  if (ignored === undefined) return;
  const text = terminalLine(ignoredText(ignored));
  if (asks && printer.isTerminal && process.stdin.isTTY)
    if ((await ask(process, `${text}. Send them? [y/n] `, YES_OR_NO)) === true) return;
  throw problem('E314', { what: text }, { correction: { add: [['--accept-gpu']] } });
}
