// Builds the next commands that a command prints last, complete, so that they can be pasted into the same shell.

import { dirname } from 'node:path';
import { shellWord } from '../errors/outside-text.ts';
import type { FoundBatch } from '../library/handle/found-batch.ts';
import { retryOf, type Summary } from '../results/summary.ts';
import { configOf } from './flags/batch-options.ts';
import type { Next, Printer } from './context.ts';

/** For somebody without a run service: costs nothing. */
export const REHEARSAL = 'runsheet run <sheet> -d portraits --local';

type BatchPlace = Pick<FoundBatch, 'batch' | 'folder'>;
/** `runsheet resume portraits-7f3a`, with --out if the batch is not in the folder of the settings; `more`: words after the batch. */
export function nextCommand(
  verb: string,
  { batch, folder }: BatchPlace,
  { more, out = configOf({}).out }: { readonly more?: string; readonly out?: string } = {},
): string {
  const own = dirname(folder);
  const place = own === out ? [] : ['--out', shellWord(own)];
  return ['runsheet', verb, shellWord(batch), ...place, ...(more === undefined ? [] : [more])].join(' ');
}

/** The user's command with another verb. `add`: flags to append unless they were given. */
export function sameCommand(
  args: readonly string[],
  verb: string,
  { add = [], without = [] }: { readonly add?: readonly string[]; readonly without?: readonly string[] } = {},
): string {
  const words = args.slice(1).filter((word) => !without.includes(word));
  return ['runsheet', verb, ...words, ...add.filter((word) => !words.includes(word))]
    .map(shellWord)
    .join(' ');
}

/** The command that retries the unsuccessful rows of an ended batch, if any. */
export function toRetry(batchFolder: BatchPlace, summary: Summary): readonly Next[] {
  const again = retryOf(summary);
  if (again === undefined) return [];
  return [['again', nextCommand('retry', batchFolder, again === '' ? {} : { more: again })]];
}

/** The next commands for an ended batch. */
export const nextOfEnded = (batchFolder: BatchPlace, summary: Summary): readonly Next[] => [
  ...toRetry(batchFolder, summary),
  ['open', nextCommand('open', batchFolder)],
  ['export', nextCommand('export', batchFolder, { more: '--as xlsx' })],
];

export const toFollow = (batchFolder: BatchPlace): Next => ['follow', nextCommand('follow', batchFolder)];
export const toContinue = (batchFolder: BatchPlace): Next => ['continue', nextCommand('resume', batchFolder)];

/** Embedded servers, which end with their last command unless another terminal keeps them. */
type Stack = { readonly isKept?: boolean | undefined } | undefined;

const isLeaving = (stack: Stack): boolean => stack !== undefined && stack.isKept !== true;

/** The command that keeps the servers running, if nothing does. */
export const toKeep = (stack: Stack): readonly Next[] =>
  isLeaving(stack) ? [['servers', 'runsheet dev']] : [];

/** A batch that the command does not follow. */
export function sayLeft(
  printer: Printer,
  { stack }: { readonly stack: Stack },
  batchFolder: BatchPlace,
): void {
  if (isLeaving(stack)) printer.notice('the embedded servers end with the last command that uses them');
  printer.next(isLeaving(stack) ? toContinue(batchFolder) : toFollow(batchFolder));
}
