// plan --what-if: what a finished batch would have taken and cost with other limits or on another GPU.

import { EXIT, list, problem } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import { findBatch } from '../../library/handle/found-batch.ts';
import { changed, replayOf } from '../../library/what-if/replayed-batch.ts';
import type { Change } from '../../results/what-if/what-if.ts';
import { configOf, limitsOf } from '../flags/batch-options.ts';
import { printerFor, type Context } from '../context.ts';
import type { SheetFlags } from '../flags/flags.ts';
import { sayNext } from '../next-command.ts';
import { runOf, whatIfJson, whatIfLines } from './what-if-text.ts';

type Flags = SheetFlags & { readonly whatIf: string };

/** Flags that a replay understands. */
const KNOWN: ReadonlySet<string> = new Set([
  'whatIf',
  'concurrency',
  'retries',
  'retry',
  'rate',
  'gpuConcurrency',
  'gpu',
  'out',
  'quiet',
  'output',
]);

export async function whatIfOf(context: Context, flags: Flags, sheet: string | undefined): Promise<number> {
  refuseOthers(flags, sheet);
  const printer = printerFor(context, flags);
  const { out } = configOf(flags);
  const found = await findBatch(out, flags.whatIf);
  const replay = await replayOf(out, found, changeFrom(flags));
  if (flags.output === 'json') printer.json(whatIfJson(replay));
  else for (const line of whatIfLines(replay)) printer.data(printer.forPeople(line));
  const limits = limitWords(context.args ?? [], flags.whatIf);
  if (limits !== '') sayNext(printer, flags.output, ['run', runOf(found.file, limits)]);
  return EXIT.ok;
}

/** The words of the command that change the batch, as they were given. */
const limitWords = (args: readonly string[], batch: string): string =>
  args
    .slice(1)
    .filter((word) => word !== '--what-if' && word !== batch && !word.startsWith('--what-if='))
    .map(shellWord)
    .join(' ');

function changeFrom(flags: Flags): Change {
  const { concurrency, retries, retriesByKind, startsPerMinute, gpuConcurrency } = limitsOf(flags);
  return changed({ concurrency, retries, retriesByKind, startsPerMinute, gpuConcurrency, gpu: flags.gpu });
}

function refuseOthers(flags: Flags, sheet: string | undefined): void {
  if (sheet !== undefined)
    throw problem('E602', {
      what: '--what-if replays a batch, so it takes no sheet',
      hint: `for example: runsheet plan --what-if ${shellWord(flags.whatIf)} -c 8`,
    });
  if (typeof flags.concurrency === 'object')
    throw problem('E602', {
      what: '--what-if does not take -c auto',
      hint: 'give a number: it says from how many slots on runs only queue',
    });
  const others = Object.entries(flags).flatMap(([name, value]) =>
    KNOWN.has(name) || value === undefined || value === false ? [] : [flagName(name)],
  );
  if (others.length > 0)
    throw problem('E602', {
      what: `--what-if does not take ${list(others)}`,
      hint: `it takes: ${list([...KNOWN].filter((name) => name !== 'whatIf').map(flagName))}`,
    });
}

const flagName = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
