// Words the questions of a proposal, and the error of a question that cannot be asked.

import { list, problem, type RunsheetError } from '../errors/error.ts';
import { shellWord, terminalLine } from '../errors/outside-text.ts';
import { count, exactMoney, nanoOf, plural } from '../options/text/printed-numbers.ts';
import { guessesRefused, printedAnswers } from '../sheet/guesses/guess.ts';
import type { BatchFile } from '../store/batch-file.ts';
import type { LowBudget } from './low-budget.ts';
import {
  statedAnswers,
  asOption,
  isVersionSure,
  rowsLeft,
  sumOf,
  type QuestionAnswer,
  type ChangedDeployment,
  type EarlierBatches,
  type IgnoredGpus,
  type Question,
  type SharedRows,
  type Wording,
} from './questions.ts';

/** The command of a schedule whose job cannot answer a question. */
export const TRIGGER = 'runsheet schedule trigger';

export function questionText(question: Question): string {
  switch (question.id) {
    case 'guesses':
      return `${question.sheet} is read with guesses that could spend money wrongly`;
    case 'ofBatch':
      return `the rows of ${question.sheet} are rows of ${question.batch}`;
    case 'open':
      return openText(question.open);
    case 'undelivered':
      return `${undeliveredText(question.undelivered)}; to fetch them, which buys nothing: ${list(fetching(question), ' && ')}`;
    case 'earlier':
      return knownText(question);
    case 'moved':
      return movedText(question);
    case 'elsewhere':
      return elsewhereText(question);
    case 'changed':
      return changedText(question);
    case 'otherGpu':
      return ignoredText(question);
    case 'outsideFiles':
      return outsideText(question);
    case 'manyRows':
      return manyText(question);
    case 'lowBudget':
      return budgetText(question);
    case 'boughtBefore':
      return boughtText(question);
  }
}

/** The flags that a command for another question assumes; never a raised cost limit, and never which rows run. */
const assumedIn = (question: Question): QuestionAnswer['flags'] =>
  printed(question).find(({ with: patch }) => !('settings' in patch))?.flags ?? [];

/** The answers as commands state them: which rows run is left open. */
const printed = (question: Question): readonly QuestionAnswer[] =>
  statedAnswers(question).map((answer, at) =>
    question.id === 'guesses' && at === 0 ? { ...answer, flags: printedAnswers(question.guesses) } : answer,
  );

/** The error of the first open question. Its commands also answer the other questions. */
export function refusal(
  [question, ...furtherQuestions]: readonly Question[],
  wording: Wording,
): RunsheetError {
  if (question === undefined) throw new Error('no question to refuse');
  const assumed = furtherQuestions.flatMap(assumedIn);
  const written = printed(question).map((answer) => wording(answer, assumed));
  const [first, second = first] = written as [string, string?];
  switch (question.id) {
    case 'guesses':
      // Callers other than commands get the names of the flags.
      return guessesRefused(question.sheet, question.guesses, wording === asOption ? {} : { command: first });
    case 'ofBatch':
      return problem('E534', { name: question.sheet, batch: question.batch, into: first, again: second });
    case 'open': {
      const batches = question.open.map(({ batch }) => batch);
      const wish = first.startsWith(TRIGGER) ? { trigger: first } : { again: first };
      return problem('E531', { rows: openText(question.open), batches, ...wish });
    }
    case 'undelivered': {
      const rows = undeliveredText(question.undelivered);
      const answer = { key: '', flags: [['--reuse']], option: "reuse: 'reuse'", with: { answers: {} } };
      return problem('E546', {
        rows,
        fetch: fetching(question),
        reuse: wording(answer, assumed),
        again: first,
      });
    }
    case 'earlier': {
      const { rows: total } = question;
      const facts = { isVersionSure: isVersionSure(question), left: rowsLeft(question), all: total };
      return problem('E530', { rows: knownText(question), ...facts, reuse: first, again: second });
    }
    case 'moved':
      return problem('E558', { rows: movedText(question), keep: first, again: second });
    case 'elsewhere': {
      return problem('E539', {
        rows: elsewhereText(question),
        there: thereOf(question, wording, assumed),
        again: first,
      });
    }
    case 'changed':
      return problem('E545', { rows: changedText(question), batch: question.batch, again: first });
    case 'otherGpu':
      return problem('E314', { what: terminalLine(ignoredText(question)), accept: first });
    case 'outsideFiles':
      return problem('E120', { files: terminalLine(outsideText(question)), accept: first });
    case 'manyRows':
      return problem('E119', { rows: manyText(question), accept: first });
    case 'lowBudget':
      return problem('E547', {
        limit: budgetText(question),
        raise: first,
        ...(written.length > 1 && { keep: second }),
      });
    case 'boughtBefore':
      return problem('E549', { rows: boughtText(question), again: first });
  }
}

/** The same request in the folder of the other batch, on the servers that run it. */
function thereOf(
  { others: [batch] }: Question & { readonly id: 'elsewhere' },
  wording: Wording,
  assumed: Parameters<Wording>[1],
): string {
  const { out = '', home } = batch ?? {};
  const option = `store: '${out}'${home === undefined ? '' : `, home: '${home}'`}`;
  const written = wording({ key: '', flags: [['--out', out]], option, with: { answers: {} } }, assumed);
  // No flag names the state folder.
  return home === undefined || written.includes(option)
    ? written
    : `RUNSHEET_HOME=${shellWord(home)} ${written}`;
}

/** `300 of 301 rows are done in portraits-7f3a`. */
function doneText({ done, rows }: Pick<Question & { readonly id: 'earlier' }, 'done' | 'rows'>): string {
  const sum = sumOf(done);
  const batches = done.map((shared) =>
    done.length === 1 ? shared.batch : `${shared.batch} (${count(shared.rows)})`,
  );
  return `${count(sum)} of ${plural(rows, 'row')} ${sum === 1 ? 'is' : 'are'} done in ${list(batches)}`;
}

/** `3 of 3 rows are done in shots-7f3a with another input_image: only its address differs`. */
const movedText = ({ rows, done, inputs }: Question & { readonly id: 'moved' }): string =>
  terminalLine(
    `${doneText({ rows, done })} with another ${list(inputs)}: only ${inputs.length === 1 ? 'its address differs' : 'their addresses differ'}`,
  );

const knownText = ({
  rows,
  done,
  unknown,
}: Pick<Question & { id: 'earlier' }, 'rows' | 'done' | 'unknown'>): string =>
  list(
    [
      ...(done.length > 0 ? [doneText({ rows, done })] : []),
      ...(unknown.length > 0
        ? [rowsText(unknown, () => 'may have been bought without a known outcome in')]
        : []),
    ],
    '; ',
  );

/** `2 rows (12, 40) are still open in portraits-7f3a`. */
const openText = (open: readonly SharedRows[]): string =>
  rowsText(open, (rows) => `${rows === 1 ? 'is' : 'are'} still open in`);

/** `2 rows (12, 40) were paid for in portraits-7f3a, but their files were not delivered`. */
const undeliveredText = (shared: readonly SharedRows[]): string =>
  `${rowsText(shared, (rows) => `${rows === 1 ? 'was' : 'were'} paid for in`)}, but the files were not delivered`;

const fetching = ({ undelivered }: Question & { readonly id: 'undelivered' }): readonly string[] =>
  undelivered.map(({ batch }) => `runsheet retry ${batch} --fetch`);

export function earlierNotes(
  { same, done = [], open = [], unknown = [], undelivered = [] }: EarlierBatches,
  { rows: sheetRows, refused = 0 }: Pick<BatchFile['sheet'], 'rows' | 'refused'>,
): readonly string[] {
  const rows = sheetRows - refused;
  if (same !== undefined) return [`this is batch ${same}; run attaches to it and buys no row again`];
  const isSure = done.every((shared) => shared.isVersionSure)
    ? ''
    : '; the deployment may have changed since';
  return [
    ...(done.length === 0 ? [] : [`${doneText({ rows, done })}${isSure}`]),
    ...(unknown.length === 0 ? [] : [knownText({ rows, done: [], unknown })]),
    ...(undelivered.length === 0 ? [] : [undeliveredText(undelivered)]),
    ...(open.length === 0 ? [] : [`${openText(open)}; run refuses this sheet until they have ended`]),
  ];
}

function rowsText(shared: readonly SharedRows[], verb: (rows: number) => string): string {
  const texts = shared.map(({ batch, rows, first }) => {
    const more = rows > first.length ? ', …' : '';
    return `${plural(rows, 'row')} (${first.join(', ')}${more}) ${verb(rows)} ${batch}`;
  });
  return list(texts, '; ');
}

/** `300 of 301 rows are in another folder: portraits-7f3a in /data/batches`. */
function elsewhereText({
  rows,
  others: batches,
}: Pick<Question & { readonly id: 'elsewhere' }, 'rows' | 'others'>) {
  const sum = sumOf(batches);
  const places = batches.map(({ batch, out }) => `${batch} in ${out}`);
  return `${count(sum)} of ${plural(rows, 'row')} ${sum === 1 ? 'is' : 'are'} in another folder: ${list(places)}`;
}

/** `300 rows of prompts.csv are in prompts-7f3a, with an earlier version of portrait (5.steps 20 → 30)`. */
function changedText({ deployment, sheet, batch, rows, changes }: ChangedDeployment): string {
  const what = changes.length === 0 ? '' : ` (${list(changes)})`;
  return `${plural(rows, 'row')} of ${sheet} ${rows === 1 ? 'is' : 'are'} in ${batch}, with an earlier version of ${deployment}${what}`;
}

function boughtText({
  rows,
  paid,
  expectedUsd,
  batches,
}: Question & { readonly id: 'boughtBefore' }): string {
  const where = batches === undefined ? '' : ` in ${list(batches)}`;
  const cost = expectedUsd ? `, about ${exactMoney(nanoOf(expectedUsd))}` : '';
  return `${plural(rows, 'row')}, of which ${count(paid)} succeeded or may have a run that was paid for${where}${cost}`;
}

/** `the cost limit $5.00 is less than the $12.40 that all rows are forecast to cost`. */
function budgetText({ maxNano, runNano, gpu, forecastNano }: LowBudget): string {
  const limit = `the cost limit ${exactMoney(maxNano)}`;
  const onGpu = gpu === '' ? '' : ` on ${gpu}`;
  return maxNano < runNano
    ? `${limit} is less than the ${exactMoney(runNano)} that one run${onGpu} may cost, so it could not be sent`
    : `${limit} is less than the ${exactMoney(forecastNano ?? 0)} that all rows are forecast to cost`;
}

/** `prompts.csv names 2 files outside of its folder, or hidden in it (3,120 bytes): /home/ann/.ssh/id_rsa, …`. */
function outsideText({ sheet, files, bytes, first }: Question & { readonly id: 'outsideFiles' }): string {
  const paths = [...first, ...(files > first.length ? ['…'] : [])];
  const what = plural(files, 'file');
  return `${sheet} names ${what} outside of its folder, or hidden in it (${count(bytes)} bytes): ${paths.join(', ')}`;
}

const manyText = ({ sheet, rows }: Question & { readonly id: 'manyRows' }): string =>
  `combinations, repetitions and lists in cells make ${plural(rows, 'row')} of ${sheet}`;

export const ignoredText = ({ own, asked: gpus, rows }: IgnoredGpus): string =>
  `${plural(rows, 'row')} ${rows === 1 ? 'asks' : 'ask'} for ${gpus.join(', ')}, but the deployment has ${own}: the service may run them on ${own} without saying so`;
