// Guesses how a sheet is read: as a list or as a table. Encoding, separator, quotes and header have their own files.

import { problem, type RunsheetError } from '../../errors/error.ts';
import { lenientTextOf, linesOf } from '../text/sheet-text.ts';
import { or, said, type Settled, type Guess, type GuessOptions, plainName } from './guess.ts';
import { withoutChoices } from '../csv/csv.ts';
import { flagsOf } from '../../options/written-options.ts';
import { isJson, isWorkbook, TRADE_READINGS } from '../formats.ts';
import { isSkipped, type SheetSource, type SheetOptions } from '../sheet-source.ts';
import { shellWord, shortened } from '../../errors/outside-text.ts';
import { guessedEncoding } from './guess-encoding.ts';
import { cueGuesses } from './guess-cues.ts';
import { guessedHeader } from './guess-header.ts';
import { lineGuesses } from './guess-lines.ts';
import { commandGuess, passageGuesses } from './guess-passages.ts';
import { guessedQuotes } from './guess-quotes.ts';
import { guessedSeparator, MAX_LINE, SAMPLED } from './guess-separator.ts';
import { isDrawn, isSetting, isSpoken, nameProper } from './input-names.ts';
import { isMidjourney } from '../trade/midjourney.ts';
import { hasCommands } from '../trade/midjourney-rows.ts';
import { isRule, labelIn, labelsIn } from '../trade/labelled-blocks.ts';
import { labelledName } from '../text/speakers.ts';
import { ListHeadings } from './list-headings.ts';
import { oneColumnGuesses } from './one-column.ts';

/**
 * Completes the options with encoding, separator, quotes and header row. `inputs`: input names, one of
 * which a header must contain; `listed`: the input of a plain list's lines.
 */
export async function settleReading(
  source: SheetSource,
  userOptions: SheetOptions,
  inputs: readonly string[] | undefined,
  listed?: string,
): Promise<Settled> {
  if (isJson(userOptions.format)) return { options: userOptions, guesses: [] };
  const trade = TRADE_READINGS[userOptions.format];
  const isPassage = userOptions.format === 'chat' || userOptions.format === 'markdown';
  if (isPassage && (userOptions.delimiter ?? userOptions.headerRow) !== undefined)
    return settleReading(source, { ...userOptions, format: 'csv' }, inputs, listed);
  const isUntold = (userOptions.delimiter ?? userOptions.headerRow) === undefined;
  if (userOptions.format === 'midjourney' && isUntold && (await hasCommands(source, userOptions)))
    return isDrawn(inputs)
      ? settleCommands(source, userOptions, listed)
      : settleReading(source, { ...userOptions, format: 'chat' }, inputs, listed);
  if (userOptions.format === 'midjourney' && !isDrawn(inputs)) {
    const format = /\.tsv$/i.test(source.name) ? 'tsv' : 'csv';
    return settleReading(source, { ...userOptions, format }, inputs, listed);
  }
  if (userOptions.format === 'midjourney') return settlePrompts(source, userOptions, inputs, listed);
  if (trade !== undefined) return settleTrade(source, userOptions, trade, listed);
  const guesses: Guess[] = [];
  let options = userOptions;
  const settle = (settled: Settled): void => {
    ({ options } = settled);
    guesses.push(...settled.guesses);
  };
  if (!isWorkbook(options.format) && options.encoding === undefined)
    settle(await guessedEncoding(source, options));
  const wanted = new Set(
    [...(inputs ?? []), ...namesIn(options)].flatMap((name) => [plainName(name), nameProper(name)]),
  );
  if (listed !== undefined && (await isPlainList(source, options, wanted, listed)))
    settle(listOf(options, listed));
  if (options.delimiter === 'none') {
    const list = await lineGuesses(source, options, isSpoken(inputs));
    settle({ options: { ...options, ...list.options }, guesses: list.guesses });
  }
  if (options.delimiter === 'none' && userOptions.delimiter === undefined) return { options, guesses };
  if (options.columns !== undefined && options.headerRow === undefined)
    options = { ...options, headerRow: 0 };
  if (options.format === 'csv' && options.delimiter === undefined)
    settle(await guessedSeparator(source, options, wanted));
  if (!isWorkbook(options.format) && options.quote === undefined)
    settle(await guessedQuotes(source, options));
  if (options.headerRow === undefined)
    settle(await guessedHeader(source, options, inputs === undefined ? undefined : wanted));
  if (!isWorkbook(options.format)) {
    const column = await oneColumnGuesses(source, options);
    settle({ options: { ...options, ...column.options }, guesses: column.guesses });
  }
  return { options, guesses };
}

async function settleTrade(
  source: SheetSource,
  own: SheetOptions,
  text: string,
  listed: string | undefined,
): Promise<Settled> {
  const encoded =
    own.encoding === undefined ? await guessedEncoding(source, own) : { options: own, guesses: [] };
  const asList = { format: 'csv', ...listOptions(listed ?? 'text') } as const;
  const parts = [
    await cueGuesses(source, encoded.options),
    await passageGuesses(source, encoded.options, listed, asList),
  ];
  return {
    options: Object.assign({}, encoded.options, ...parts.map((part) => part.options)) as SheetOptions,
    guesses: [
      ...encoded.guesses,
      said('header', text, { format: own.format }),
      ...parts.flatMap((part) => part.guesses),
    ],
  };
}

/** Cells are read as those of a CSV before their parameters are. */
async function settlePrompts(
  source: SheetSource,
  own: SheetOptions,
  ...[inputs, listed = 'prompt']: readonly [readonly string[] | undefined, string | undefined]
): Promise<Settled> {
  const format = own.format;
  const isTold = (own.delimiter ?? own.headerRow ?? own.columns) !== undefined;
  const isList = !isTold && (await beginsWithPrompt(source, own));
  const list: SheetOptions = isList ? { quote: 'none', ...own, ...listOptions(listed) } : own;
  const read = await settleReading(source, { ...list, format: 'csv' }, inputs ?? ['prompt'], listed);
  const guess = said(
    'header',
    TRADE_READINGS[format] ?? '',
    { format },
    or('to send the texts as they stand', { format: 'csv' }),
  );
  return { options: { ...read.options, format }, guesses: [guess, ...read.guesses] };
}

/** A chat with Midjourney: its commands are the prompts. */
async function settleCommands(source: SheetSource, own: SheetOptions, listed = 'prompt'): Promise<Settled> {
  const { options, guesses } =
    own.encoding === undefined ? await guessedEncoding(source, own) : { options: own, guesses: [] };
  const guess = await commandGuess(source, options);
  const { format, columns = [listed] } = options;
  return {
    options: { quote: 'none', ...options, ...listOptions(listed), columns, ...guess.options },
    guesses: [...guesses, said('header', TRADE_READINGS[format] ?? '', { format }), ...guess.guesses],
  };
}

async function beginsWithPrompt(source: SheetSource, options: SheetOptions): Promise<boolean> {
  for await (const line of linesOf(lenientTextOf(source, options), MAX_LINE))
    if (line.trim() !== '') return isMidjourney(line);
  return false;
}

/** Whether a .txt or .md has neither header nor table. Throws E104 if its lines are labelled, as in blocks of settings. */
async function isPlainList(
  { name, open }: SheetSource,
  options: SheetOptions,
  wanted: ReadonlySet<string>,
  listed: string,
) {
  const { format, delimiter, headerRow, columns } = options;
  if (format !== 'csv' || !/\.(?:txt|md)$/i.test(name)) return false;
  if ((delimiter ?? headerRow ?? columns) !== undefined) return false;
  const bars = new Set<number>();
  let tabs = 0;
  let lines = 0;
  let at = 0;
  const labelled: RegExpExecArray[] = [];
  const texts: string[] = [];
  const headings = new ListHeadings();
  for await (const line of linesOf(lenientTextOf({ name, open }, options), MAX_LINE)) {
    at += 1;
    if (isSkipped(options, at)) continue;
    headings.take(line, at);
    texts.push(line);
    if (isRule(line)) continue;
    if (lines === 0 && line.split(/[,;\t|]/).some((field) => wanted.has(nameProper(field)))) return false;
    lines += 1;
    if (line.includes('\t')) tabs += 1;
    bars.add(withoutChoices(line).split('|').length - 1);
    const label = LABEL.exec(line);
    const named = nameProper(label?.[1] ?? '');
    const isName = isSpoken([...wanted]) && labelledName(line) !== undefined;
    if (label !== null && !isName && (wanted.has(named) || isSetting(named))) labelled.push(label);
    if (lines === SAMPLED) break;
  }
  if (labelled.length * 4 > lines) throw blocksOf(name, labelled, labelsIn(texts), listed);
  if (headings.ranges !== undefined) throw headedOf(name, headings, listed);
  const [count = 0] = bars;
  if (lines > 1 && bars.size === 1 && count > 0) throw barsIn(name, count, listed);
  return tabs * 2 <= lines;
}

/** E104 for lines such as `wavs/a.wav|Text.|0`, which VITS and Tacotron read, or `a fox | oil`. */
function barsIn(file: string, count: number, input: string): RunsheetError {
  const what = `each line has ${count} ${count === 1 ? 'bar' : 'bars'} (|): it may be a row of ${count + 1} cells, or one ${input}`;
  const row = flagsOf({ delimiter: '|', headerRow: 0 }).flat().map(shellWord).join(' ');
  return problem('E104', { what, hint: `if it is a row: ${row}; ${listHint(input)}` }, { place: { file } });
}

/** `Seed: 5` */
const LABEL = /^([^:=]{1,40})[:=]/;

function blocksOf(
  file: string,
  labelled: readonly RegExpExecArray[],
  blocks: readonly string[],
  input: string,
): RunsheetError {
  const line = JSON.stringify(shortened((labelled[1] ?? labelled[0])?.input ?? '', 60));
  const what = `each line would be one ${input}, even ${line}, which begins with the name of a setting`;
  const place = { file };
  if (blocks.length === 0) {
    const names = new Set(labelled.map((label) => labelIn(label.input)?.name ?? label[1]?.trim()));
    const table = `make it a table: ${[...names].join(',')} in the first line, below it a line for each run`;
    return problem('E104', { what, hint: `${table}; ${listHint(input)}` }, { place });
  }
  const format = ['--format', 'blocks'] as const;
  const hint = `to make a row of each block of ${blocks.join(', ')}: ${format.join(' ')}`;
  return problem('E104', { what, hint }, { place, correction: { add: [format] } });
}

function headedOf(file: string, { first = '', ranges = '' }: ListHeadings, input: string): RunsheetError {
  const what = `each line would be one ${input}, even ${JSON.stringify(shortened(first, 60))}, which is above a rule like a heading`;
  const hint = `to leave out headings and rules: --skip-rows ${ranges}; ${listHint(input)}`;
  return problem('E104', { what, hint }, { place: { file } });
}

const listHint = (input: string): string =>
  `if each line is one ${input}: ${flagsOf(listOptions(input)).flat().map(shellWord).join(' ')}`;

const listOptions = (input: string) =>
  ({ delimiter: 'none', headerRow: 0, columns: [input] }) satisfies GuessOptions;

function listOf(options: SheetOptions, input: string): Settled {
  const list = listOptions(input);
  const guess = said('header', `each line is one ${input}, also the first`, list);
  return { options: { ...options, ...list }, guesses: [guess] };
}

/** Columns that options name, which a header must contain. */
const namesIn = ({ map, keyColumn, gpuColumn }: SheetOptions): readonly string[] => [
  ...Object.values(map).flatMap((name) => [name, name.replace(/\.\d{1,3}$/, '')]),
  ...(keyColumn === undefined ? [] : [keyColumn]),
  ...(gpuColumn === undefined ? [] : [gpuColumn]),
  'gpu',
];
