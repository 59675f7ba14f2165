// Every question that must be decided before money is spent or files leave this machine, with its possible answers. A terminal asks
// its user; a command answers with flags, a program with options.

import { definedOnly } from '../options/defined-only.ts';
import { exactMoney, plural, usdOf } from '../options/text/printed-numbers.ts';
import { flagsOf, membersOf } from '../options/written-options.ts';
import { choosesRows, unconfirmed, type Guess, type GuessOptions } from '../sheet/guesses/guess.ts';
import type { FilesFound } from '../sheet/input-files.ts';
import type { BatchFile } from '../store/batch-file.ts';
import { agreedIn, type AgreedOptions } from './agreed-options.ts';
import type { LowBudget } from './low-budget.ts';

export type Answers = {
  readonly guesses?: 'accept';
  /** Rows that a question concerns alone, where bad rows are skipped. */
  readonly oddRows?: 'refuse';
  /** Rows that earlier batches have done. */
  readonly earlier?: 'reuse' | 'again';
  /** Rows that earlier batches may still send. */
  readonly open?: 'again';
  /** Rows that were paid for, although their files were not delivered. */
  readonly undelivered?: 'again';
  /** Rows that earlier batches have done with another address of a file. */
  readonly moved?: 'keep' | 'again';
  /** Rows that a batch in another place has. */
  readonly elsewhere?: 'again';
  /** Rows that a batch ran with an earlier version of the deployment. */
  readonly changed?: 'new';
  /** A sheet with results of a batch. */
  readonly ofBatch?: 'new';
  /** GPUs that the service may ignore. */
  readonly otherGpu?: 'accept';
  /** Files of this machine outside of the folder of the sheet. */
  readonly outsideFiles?: 'accept';
  /** Rows that may have a run that was paid for. */
  readonly boughtBefore?: 'again';
  /** Many rows that a grid makes of few. */
  readonly manyRows?: 'accept';
  /** A limit of the cost that is lower than the forecast. */
  readonly lowBudget?: 'accept';
};

/** Buys every row, even rows that other batches have. */
export const AGAIN: Answers = {
  earlier: 'again',
  open: 'again',
  undelivered: 'again',
  moved: 'again',
  elsewhere: 'again',
  changed: 'new',
  ofBatch: 'new',
};

/** A program's decision about rows that other batches have; `refuse` leaves the question open. */
export type ReuseWish = 'refuse' | 'reuse' | 'again';

export const answersTo = (wish: ReuseWish = 'refuse'): Answers =>
  wish === 'again' ? AGAIN : wish === 'reuse' ? { earlier: 'reuse', changed: 'new' } : {};

/** Rows of the new batch that one earlier batch has. */
export type SharedRows = {
  readonly batch: string;
  readonly rows: number;
  /** Row numbers, in the new batch, of the first shared rows. */
  readonly first: readonly number[];
  /** Whether that batch is known to have used the same version of the deployment. */
  readonly isVersionSure: boolean;
};

export type EarlierBatches = {
  /** A batch of the same rows, to which a command would attach. */
  readonly same?: string;
  readonly done?: readonly SharedRows[];
  readonly open?: readonly SharedRows[];
  readonly unknown?: readonly SharedRows[];
  readonly undelivered?: readonly SharedRows[];
  readonly moved?: MovedRows;
};

/** Rows that are done, but for the address of a file in these inputs. */
export type MovedRows = { readonly done: readonly SharedRows[]; readonly inputs: readonly string[] };

/** Rows that the service may run on the deployment's own GPU, at another price. */
export type IgnoredGpus = {
  readonly own: string;
  readonly asked: readonly string[];
  readonly rows: number;
};

/** Rows that a batch in another place has. */
export type RowsElsewhere = {
  readonly batch: string;
  readonly out: string;
  /** The state folder of the embedded servers that run it, unless it is this one. */
  readonly home?: string;
  readonly rows: number;
};

/** A batch of the same sheet, with an earlier version of the deployment. */
export type ChangedDeployment = {
  readonly deployment: string;
  readonly sheet: string;
  readonly batch: string;
  readonly rows: number;
  /** Empty if the service no longer has the earlier version. */
  readonly changes: readonly string[];
};

export type Question =
  | {
      readonly id: 'guesses';
      readonly sheet: string;
      readonly guesses: readonly Guess[];
      /** Why the sheet is refused even with these guesses. */
      readonly refused?: unknown;
      /** Whether another answer can change how the sheet is read; the options of an existing batch are fixed. */
      readonly isChangeable?: true;
    }
  | { readonly id: 'ofBatch'; readonly sheet: string; readonly batch: string; readonly file: BatchFile }
  | { readonly id: 'open'; readonly open: readonly SharedRows[] }
  | { readonly id: 'undelivered'; readonly rows: number; readonly undelivered: readonly SharedRows[] }
  | {
      readonly id: 'earlier';
      readonly rows: number;
      readonly done: readonly SharedRows[];
      readonly unknown: readonly SharedRows[];
    }
  | ({ readonly id: 'moved'; readonly rows: number } & MovedRows)
  | { readonly id: 'elsewhere'; readonly rows: number; readonly others: readonly RowsElsewhere[] }
  | ({ readonly id: 'changed' } & ChangedDeployment)
  | ({ readonly id: 'otherGpu' } & IgnoredGpus)
  | ({ readonly id: 'outsideFiles'; readonly sheet: string } & FilesFound['outside'])
  | { readonly id: 'manyRows'; readonly sheet: string; readonly rows: number }
  | ({ readonly id: 'lowBudget' } & LowBudget)
  | {
      readonly id: 'boughtBefore';
      /** `rows` are sent again; `paid` of them may have a run that was paid for. */
      readonly rows: number;
      readonly paid: number;
      readonly expectedUsd: number | undefined;
      /** The batches that have these rows, unless it is the batch itself. */
      readonly batches?: readonly string[];
    };

/** The change of the request that an answer makes. */
export type Patch = AnswersPatch | { readonly into: string };

type AnswersPatch = {
  readonly answers: Answers;
  /** Whether a new batch is made, even if one of the same rows exists. */
  readonly again?: true;
  /** Options of a batch, used where the request has none. */
  readonly options?: AgreedOptions;
  /** Options that replace those of the request. */
  readonly stated?: GuessOptions;
  /** A new cost limit. */
  readonly settings?: { readonly maxCostNano: number };
};

export type QuestionAnswer = {
  readonly key: string;
  /** The effect of the answer; absent for a yes-or-no question. */
  readonly text?: string;
  /** The flags that give this answer in advance, each with its values. */
  readonly flags: readonly (readonly string[])[];
  readonly option: string;
  readonly with: Patch;
};

/** Commands that also answer another question assume the first answer that raises no limit. */
export type PossibleAnswers = readonly [QuestionAnswer, ...QuestionAnswer[]];

/** Writes an answer for a command or a program. `assumed`: flags that answer the other open questions. */
export type Wording = (answer: QuestionAnswer, assumed: readonly (readonly string[])[]) => string;

/** Thrown by a proposal that cannot be carried out before these questions are answered. */
export class QuestionsOpen extends Error {
  override readonly name = 'QuestionsOpen';
  readonly questions: readonly Question[];

  constructor(questions: readonly Question[]) {
    super(`open: ${questions.map(({ id }) => id).join(', ')}`);
    this.questions = questions;
  }
}

export const sumOf = (shared: readonly { readonly rows: number }[]): number =>
  shared.reduce((sum, { rows }) => sum + rows, 0);

export const rowsLeft = ({
  rows,
  done,
}: {
  readonly rows: number;
  readonly done: readonly SharedRows[];
}): number => rows - sumOf(done);

type Of<Id extends Question['id']> = Question & { readonly id: Id };

/** The only answer to a yes-or-no question. */
const yes = (flags: QuestionAnswer['flags'], option: string, answers: Answers): readonly [QuestionAnswer] => [
  { key: 'y', flags, option, with: { answers } },
];

/** Buys the rows in a new batch (--again). `options`: the options of the batch that has the rows. */
const again = (text: string, patch: AnswersPatch): QuestionAnswer => ({
  key: 'a',
  text,
  flags: [['--again'], ...flagsOf({ ...patch.options })],
  option: ["reuse: 'again'", ...membersOf({ ...patch.options })].join(', '),
  with: patch,
});

const EVERY_ROW = { answers: AGAIN, again: true } as const;

const moved = (wish: 'keep' | 'again', text: string): QuestionAnswer => ({
  key: wish.charAt(0),
  text,
  flags: [['--moved-files', wish]],
  option: `movedFiles: '${wish}'`,
  with: { answers: { moved: wish } },
});

const ALL_ROWS = 'to run all rows, and take every other line with a ?';
const ANSWERS: {
  readonly [Id in Question['id']]: (question: Of<Id>) => PossibleAnswers;
} = {
  guesses: ({ guesses, isChangeable = false }) => {
    const open = unconfirmed(guesses);
    const flags = open.flatMap(({ options }) => flagsOf(options));
    const alternatives = isChangeable ? open.flatMap((guess) => guess.alternatives ?? []) : [];
    const [accept] = yes(flags, "guess: 'accept'", { guesses: 'accept' });
    return [
      open.some(choosesRows) ? { ...accept, key: 'a', text: ALL_ROWS } : accept,
      ...alternatives.map(({ text, options }, at) => ({
        key: String(at + 1),
        text,
        flags: flagsOf(options),
        option: membersOf(options).join(', '),
        with: { answers: {}, stated: options },
      })),
    ];
  },
  ofBatch: ({ batch, file }) => [
    {
      key: 'i',
      text: 'send the rows that you changed again, in that batch',
      flags: [['--into', batch]],
      option: `getHandle('${batch}').append(…)`,
      with: { into: batch },
    },
    again('make a new batch of them', { ...EVERY_ROW, options: agreedIn(file) }),
  ],
  open: () => [again('run all rows, although these may be bought twice', EVERY_ROW)],
  undelivered: ({ rows }) => [
    again(`run all ${plural(rows, 'row')}, even those that were paid for`, EVERY_ROW),
  ],
  earlier: (question) => [
    {
      key: 'r',
      text: `reuse their results and run ${plural(rowsLeft(question), 'row')}`,
      flags: [['--reuse']],
      option: "reuse: 'reuse'",
      with: { answers: { earlier: 'reuse' } },
    },
    again(`run all ${plural(question.rows, 'row')} again`, { answers: { earlier: 'again' } }),
  ],
  moved: ({ done }) => [
    moved('keep', `keep the results of ${plural(sumOf(done), 'row')}`),
    moved('again', `run ${sumOf(done) === 1 ? 'it' : 'them'} again, with other files`),
  ],
  elsewhere: ({ rows }) => [
    again(`buy them again: run all ${plural(rows, 'row')} here`, { answers: { elsewhere: 'again' } }),
  ],
  changed: ({ rows }) => [
    again(`run all ${plural(rows, 'row')} with the new version`, { answers: { changed: 'new' } }),
  ],
  otherGpu: () => yes([['--accept-gpu']], 'acceptGpu: true', { otherGpu: 'accept' }),
  outsideFiles: () => yes([['--accept-files']], 'acceptFiles: true', { outsideFiles: 'accept' }),
  manyRows: ({ rows }) => yes([['--limit', String(rows)]], `limit: ${rows}`, { manyRows: 'accept' }),
  lowBudget: ({ maxNano, runNano, enoughNano }) => {
    const limit = usdOf(enoughNano);
    const raise: QuestionAnswer = {
      key: 'r',
      text: `raise the limit to ${exactMoney(enoughNano)}, which suffices for all rows`,
      flags: [['--max-cost', String(limit)]],
      option: `maxCost: ${limit}`,
      with: { answers: {}, settings: { maxCostNano: enoughNano } },
    };
    const keep: QuestionAnswer = {
      key: 'k',
      text: `keep it: the batch pauses when ${exactMoney(maxNano)} are spent`,
      flags: [['--accept-cost']],
      option: 'acceptCost: true',
      with: { answers: { lowBudget: 'accept' } },
    };
    return maxNano < runNano ? [raise] : [raise, keep];
  },
  boughtBefore: () => yes([['--yes']], 'mayBuyTwice: true', { boughtBefore: 'again' }),
};

/** Every answer that a command or a program can state in advance. */
export const statedAnswers = (question: Question): PossibleAnswers =>
  (ANSWERS[question.id] as (question: Question) => PossibleAnswers)(question);

/** The answers that a terminal or a page offers; none if too much is at stake for one keypress. */
export const offeredAnswers = (question: Question): readonly QuestionAnswer[] =>
  isOffered(question) ? statedAnswers(question) : [];

const isOffered = (question: Question): boolean =>
  question.id !== 'open' && (question.id !== 'earlier' || isVersionSure(question));

export const isVersionSure = ({ done, unknown }: Question & { readonly id: 'earlier' }): boolean =>
  [...done, ...unknown].every((shared) => shared.isVersionSure);

export const asOption: Wording = ({ option }) => option;

/** The questions without an answer of the same name. */
export const unanswered = (questions: readonly Question[], answers: Answers): readonly Question[] =>
  questions.filter(({ id }) => answers[id] === undefined);

export const answersIn = (patches: readonly Patch[]): Answers =>
  Object.assign({}, ...patches.map((patch) => ('answers' in patch ? patch.answers : {})));

/** `refused`: why the sheet is refused even with these guesses. */
export const aboutGuesses = (
  sheet: string,
  guesses: readonly Guess[],
  more: { readonly refused?: unknown; readonly isChangeable?: true } = {},
): readonly Question[] =>
  unconfirmed(guesses).length === 0 ? [] : [{ id: 'guesses', sheet, guesses, ...definedOnly(more) }];

/** A sheet that expands to more rows than this needs consent, unless --limit is set. */
const FEW_ROWS = 100_000;

export function manyRows({ sheet: { name, rows, options } }: BatchFile, few = FEW_ROWS): readonly Question[] {
  const { grid, repeat, split, limit } = options;
  const isMany = (grid ?? repeat ?? split) !== undefined && limit === undefined && rows > few;
  return isMany ? [{ id: 'manyRows', sheet: name, rows }] : [];
}

/** Asks before uploading, because a sheet from somebody else may name any file. Files uploaded before need no question. */
export function outsideFiles(sheet: string, files: FilesFound | undefined): readonly Question[] {
  if (files === undefined || files.outside.files === 0) return [];
  return [{ id: 'outsideFiles', sheet, ...files.outside }];
}

export function otherGpu(...params: Parameters<typeof ignoredGpus>): readonly Question[] {
  const ignored = ignoredGpus(...params);
  return ignored === undefined ? [] : [{ id: 'otherGpu', ...ignored }];
}

/** undefined if no row asks for another GPU, or if the service is known to honour it, as in a rehearsal. */
export function ignoredGpus(
  { deployment, service }: Pick<BatchFile, 'deployment' | 'service'>,
  gpus: Readonly<Record<string, number>>,
): IgnoredGpus | undefined {
  const { gpu: own } = deployment;
  if (own === undefined || service.rehearsal) return undefined;
  const otherGpus = Object.entries(gpus).filter(([gpu, rows]) => gpu !== '' && gpu !== own && rows > 0);
  if (otherGpus.length === 0) return undefined;
  return {
    own,
    asked: otherGpus.map(([gpu]) => gpu),
    rows: otherGpus.reduce((sum, [, rows]) => sum + rows, 0),
  };
}
