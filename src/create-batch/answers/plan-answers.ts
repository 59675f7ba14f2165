// What `plan --save` keeps of a plan: its guesses, and what the command gave instead of guesses.

import { answersTo, type Guess } from '../../sheet/guesses/guess.ts';
import { leftOutOf } from '../../sheet/left-out-rows.ts';
import type { SheetOptions } from '../../sheet/sheet-options.ts';
import { sourceIn } from '../../sheet/sheet-source.ts';
import { withKept } from './agreed-sheet.ts';
import { sheetOptionsOf } from '../batch-spec.ts';
import type { CreateParams, DraftBatch } from '../create-batch.ts';
import { answeringOptions, isSame, keepAnswers, keptAnswers } from './kept-answers.ts';

/** undefined for JSON, about which nothing is guessed. */
export async function keepPlan(
  params: CreateParams,
  draft: DraftBatch,
): Promise<readonly string[] | undefined> {
  const given = sheetOptionsOf(params);
  if (given.format === 'json' || given.format === 'jsonl') return undefined;
  const { sheet } = draft.file;
  const source = sourceIn(draft.layout, sheet);
  // Numbers of rows are those of this file, so totals are kept by their words.
  const { totals } = await leftOutOf(source, sheet.options, params.deployment.inputTypes);
  const agreed = [
    ...(draft.laidOut.guesses ?? []).filter(isAnswer).flatMap(answersTo),
    ...[...totals].map((kind) => `total ${kind}`),
    ...reading(given),
  ];
  const { columns, name } = sheet;
  const before = (await keptAnswers(params)).find((one) => isSame(one.columns, columns));
  const options = answeringOptions(before === undefined ? given : withKept(given, before.options));
  const kept = { columns, sheet: name, agreed: [...new Set(agreed)], options };
  await keepAnswers(params, kept);
  return columns;
}

const isAnswer = ({ flags, kinds }: Guess): boolean =>
  flags.length > 0 && kinds === undefined && !flags.includes('include');

/** What a guess would say about the next sheet. */
const reading = ({ headerRow, encoding, sheet }: SheetOptions): readonly string[] => [
  ...(headerRow === undefined ? [] : [`--header-row ${headerRow}`]),
  ...(encoding === undefined ? [] : [`--encoding ${encoding}`]),
  ...(sheet === undefined
    ? []
    : answersTo({ about: 'rows', sure: 'said', text: '', flags: ['--sheet-name', sheet] })),
];
