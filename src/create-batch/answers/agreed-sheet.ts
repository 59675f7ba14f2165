// Settles the guesses about a sheet, with the answers that `plan --save` kept for its columns. The others are asked about.

import type { InputType } from '../../run-service/contract/deployment.ts';
import { said, toConfirm, unconfirmed, type Guess } from '../../sheet/guesses/guess.ts';
import { settleSheet, type SettledSheet } from '../../sheet/guesses/settle-sheet.ts';
import type { SheetOptions } from '../../sheet/sheet-options.ts';
import type { SheetSource } from '../../sheet/sheet-source.ts';
import type { KeptAnswers } from '../../store/answers-file.ts';
import { answeringOptions, isKept, isSame, keptAnswers, type AnswersOf } from './kept-answers.ts';

export type AgreeParams = AnswersOf & {
  readonly deployment: { readonly inputTypes: readonly InputType[] | undefined };
};

/** `open`: guesses that have to be confirmed. */
export type AgreedSheet = SettledSheet & { readonly open: readonly Guess[] };

export async function agreedSheet(
  params: AgreeParams,
  source: SheetSource,
  given: SheetOptions,
): Promise<AgreedSheet> {
  const { inputTypes } = params.deployment;
  const first = await settleSheet(source, given, inputTypes);
  const all = first.columns.length === 0 ? [] : await keptAnswers(params);
  const kept = all.find(({ columns }) => isSame(columns, first.columns));
  const settled = kept === undefined ? first : await withAnswers(kept, source, given, { first, inputTypes });
  const other = kept ?? all.find(({ sheet }) => sheet === source.name);
  const isOpen = unconfirmed(settled.guesses).length > 0;
  const guesses =
    other === undefined || other === kept
      ? settled.guesses
      : [...settled.guesses, otherColumns(other.columns, first.columns, isOpen)];
  // A sheet that is refused needs no answer.
  return { ...settled, guesses, open: settled.problems.length === 0 ? unconfirmed(guesses) : [] };
}

type Known = { readonly first: SettledSheet; readonly inputTypes: readonly InputType[] | undefined };

async function withAnswers(
  kept: KeptAnswers,
  source: SheetSource,
  given: SheetOptions,
  { first, inputTypes }: Known,
): Promise<SettledSheet> {
  const options = withKept(given, kept.options);
  const flags = flagsOf(kept.options);
  const again = flags.length > 0 ? await settleSheet(source, options, inputTypes) : first;
  const guesses = again.guesses.map((guess) =>
    isKept(guess, kept)
      ? { ...guess, sure: 'said' as const, text: `${guess.text}; kept by plan --save` }
      : guess,
  );
  const note = said('columns', 'kept by plan --save', ...flags);
  return { ...again, guesses: flags.length > 0 ? [note, ...guesses] : guesses };
}

/** What the command gives counts; if it maps any column, no kept mapping counts. */
export function withKept(given: SheetOptions, kept: KeptAnswers['options']): SheetOptions {
  const { hidden, decimalComma, skipRows, ...mapping } = kept;
  const { hidden: _, decimalComma: __, skipRows: ___, ...mapped } = answeringOptions(given);
  const isMapped = Object.keys(mapped).length + Object.keys(given.set).length > 0;
  return {
    ...(hidden === undefined ? {} : { hidden }),
    ...(decimalComma === undefined ? {} : { decimalComma }),
    ...(skipRows === undefined ? {} : { skipRows }),
    ...given,
    ...(isMapped ? {} : mapping),
  };
}

const flagsOf = (kept: KeptAnswers['options']): readonly string[] => [
  ...(kept.hidden === undefined ? [] : ['--hidden', kept.hidden]),
  ...(kept.decimalComma === true ? ['--decimal-comma'] : []),
  ...(kept.skipRows === undefined ? [] : ['--skip-rows', 'none']),
  ...(kept.gpuColumn === undefined ? [] : ['--gpu-column', kept.gpuColumn]),
  ...(kept.keyColumn === undefined ? [] : ['--key', kept.keyColumn]),
  ...Object.entries(kept.map ?? {}).flatMap(([input, column]) => ['--map', `${input}=${column}`]),
  ...(kept.drop ?? []).flatMap((column) => ['--drop', column]),
  ...Object.entries(kept.types ?? {}).flatMap(([input, kind]) => ['--type', `${input}=${kind}`]),
];

/** Answers for other columns do not count. */
function otherColumns(before: readonly string[], now: readonly string[], isOpen: boolean): Guess {
  const gone = before.filter((name) => !now.includes(name)).map((name) => `"${name}" is gone`);
  const added = now.filter((name) => !before.includes(name)).map((name) => `"${name}" is new`);
  const changes = [...gone, ...added].join(', ') || 'their order';
  const text = `the answers that plan --save kept do not count, because the columns have changed: ${changes}`;
  return (isOpen ? toConfirm : said)('columns', text);
}
