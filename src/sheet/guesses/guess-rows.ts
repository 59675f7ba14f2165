// Guesses which rows of a sheet belong to the batch: blank rows, totals and the sheet
// of a workbook. Refuses rows without inputs.

import { plural } from '../../options/text/printed-numbers.ts';
import { rangesText } from '../../options/written-options.ts';
import { list, problem, type RunsheetError } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import { NOTHING, type GuessPart, or, plainName, toConfirm, type Guess, said } from './guess.ts';
import { isTrade, isWorkbook } from '../formats.ts';
import { ownColumns } from '../result-columns.ts';
import { type SheetSource, type SheetOptions, rangesOf, withRows } from '../sheet-source.ts';
import { type OtherSheet, sheetHead } from '../xlsx/unpacked-sheet.ts';
import type { BrokenRows } from './broken-rows.ts';
import { rowsText } from './long-rows.ts';
import type { NamedLines } from './named-lines.ts';
import { alsoMet, conditionOf, conditionWord } from '../where/condition-word.ts';
import { textsWithout } from './empty-parts.ts';
import type { Survey } from './survey.ts';

/** Throws E112 for rows without inputs and repeated headers. */
export function refuseRows(file: string, survey: Survey, options: SheetOptions): void {
  const { emptyLines, headerLines } = survey;
  const [lines, is, are] =
    headerLines.length > 0
      ? [headerLines, 'repeats the header', 'repeat the header']
      : [emptyLines, 'is empty in every column of an input', 'are empty in every column of an input'];
  if (lines.length === 0) return;
  const rows = rangesText(rangesOf(lines)).replaceAll(',', ', ');
  const [flag, value] = withoutRows(survey, options);
  const isWhole = lines.length === survey.rows;
  throw problem(
    'E112',
    {
      what: lines.length === 1 ? `row ${rows} of ${file} ${is}` : `rows ${rows} of ${file} ${are}`,
      hint: isWhole
        ? 'the columns that are inputs have no values: check them, or map others with --map'
        : `if they are not rows of the batch, add: ${flag} ${shellWord(value)}${continued(survey)}`,
    },
    { place: { file }, ...(isWhole ? {} : { correction: { add: [[flag, value]] } }) },
  );
}

/** The flag that leaves these rows out, even in a sheet in which they have moved. Without a condition that is sure, they are refused. */
function withoutRows(survey: Survey, { where }: SheetOptions): readonly [flag: string, value: string] {
  const { headerLines, isExact, sent, columns } = survey;
  if (!isExact) return ['--invalid', 'skip'];
  const parts =
    headerLines.length > 0
      ? columns.slice(0, 2).map((name) => `${conditionWord(name)} != ${conditionWord(name)}`)
      : sent.map((name) => conditionOf(name, '!=', ''));
  const condition = parts.join(' or ');
  return [
    '--where',
    where !== undefined && parts.length > 1 ? alsoMet(where, `(${condition})`) : alsoMet(where, condition),
  ];
}

const continued = ({ mapped, sent, continued: rows, emptyLines }: Survey): string =>
  rows * 2 <= emptyLines.length
    ? ''
    : `; if they continue the row above: ${(mapped.length === 0 ? sent : mapped).map((name) => `--fill-down ${shellWord(name)}`).join(' ')}`;

/** Finds comment rows; if most rows begin with the sign, it is part of their text. */
export function commentGuess(
  { comments, rows, signed }: Survey,
  { comment, skipRows = [] }: SheetOptions,
): GuessPart {
  const { prefix, lines, first } = comments;
  if (comment !== undefined || lines.length === 0) return NOTHING;
  if (lines.length > rows) return { options: { comment: 'none' }, guesses: [] };
  const are = lines.length === 1 ? 'is a comment' : 'are comments';
  const text = `row${lines.length === 1 ? '' : 's'} ${rangesText(rangesOf(lines))} ("${first}") ${are}`;
  const sendingAll = or('to send all rows', { comment: 'none' });
  if (signed === 0)
    return {
      options: { comment: prefix },
      guesses: [toConfirm('rows', text, { comment: prefix }, sendingAll)],
    };
  // Rows with the sign in another place are sent.
  const skipped = withRows(skipRows, lines);
  const without = { comment: 'none', skipRows: skipped };
  return { options: without, guesses: [toConfirm('rows', text, without, sendingAll)] };
}

/** Finds rows with fewer cells than the header. `broken`: they may be parts of rows. */
export function shortGuess(
  { short, rows }: Survey,
  { shortRows }: SheetOptions,
  broken: BrokenRows | undefined,
): GuessPart {
  if (shortRows === true || short.count === 0) return NOTHING;
  const alone = or('to send only the others', { invalid: 'skip' });
  const asEmpty = { shortRows: true };
  if (broken?.isLikely === true) {
    const { settled, text, areShort } = broken;
    const empty = or('to take missing cells for empty', asEmpty);
    const guess = toConfirm('rows', text, settled, ...(areShort ? [alone] : []), empty);
    return { options: settled, guesses: [guess] };
  }
  const text = `the last cells of ${rowsText(short)} are missing and taken for empty`;
  const without = short.count * 2 > rows ? [] : [alone];
  const rejoined = broken === undefined ? [] : [or('to join their lines to whole rows', broken.settled)];
  return { options: asEmpty, guesses: [toConfirm('rows', text, asEmpty, ...without, ...rejoined)] };
}

/** Finds rows that continue the row above, or stand in its group: they would be sent without its title. */
export function continuedGuess(survey: Survey, options: SheetOptions): GuessPart {
  const { untitled, emptyParts, columns } = survey;
  const { fillDown = [], where } = options;
  const grouped = new Map([...emptyParts.grouped].map(([at, count]) => [columns[at] ?? '', count]));
  const dittos = survey.dittos.guesses(options);
  const names = [...new Set([...untitled.keys(), ...grouped.keys()])].filter(
    (name) => !fillDown.includes(name) && !dittos.has(name),
  );
  if (names.length + dittos.size === 0) return NOTHING;
  const statesOf = (name: string): readonly string[] => survey.states.besides(columns.indexOf(name));
  const guesses = names.map((name) => {
    const count = untitled.get(name) ?? grouped.get(name) ?? 0;
    const states = statesOf(name);
    const also = states.length === 0 ? '' : `, as ${list(states.map((state) => `"${state}"`))} is`;
    const rows = count === 1 ? '1 row has' : `${count} rows have`;
    const filled = conditionOf(name, '!=', '');
    const text = `${rows} the "${name}" of the row above, which they continue${also}`;
    const without = or('to leave them out', { where: alsoMet(where, filled) });
    if (untitled.has(name)) return toConfirm('rows', text, { fillDown: [name, ...states] }, without);
    const below = `"${name}" is empty in ${plural(count, 'row')} below the first one of a group, and the value above is taken${also}`;
    const set = textsWithout(emptyParts, new Set([columns.indexOf(name)]), columns, options);
    const apart = or('to send their text without it', { set });
    return toConfirm('rows', below, { fillDown: [name, ...states] }, apart, without);
  });
  return {
    options: {
      fillDown: [...new Set([...fillDown, ...dittos.keys(), ...names, ...names.flatMap(statesOf)])],
    },
    guesses: [...dittos.values(), ...guesses],
  };
}

export function rowGuesses(survey: Survey, options: SheetOptions): GuessPart {
  const { format, skipRows = [], comment = 'none', totals: answer, delimiter, unquoted } = options;
  const { blank, totals } = survey;
  const guesses: Guess[] = [];
  // A cue has several lines, and so has a wrapped text.
  const isWrapped = isTrade(format) || (delimiter === 'none' && unquoted !== undefined);
  if (blank > 0 && !isWrapped) {
    const what = `blank ${blank === 1 ? 'row' : 'rows'}${comment === 'none' ? '' : ' or comments'}`;
    guesses.push(said('rows', `${blank} ${what} left out`));
  }
  const directions = directionsIn(survey, options);
  const lines = [...totals, ...(directions?.numbers ?? [])].toSorted((a, b) => a - b);
  if (lines.length === 0) return { options: {}, guesses };
  const guess = answer === 'skip' ? said : toConfirm;
  const noText = directions === undefined ? [] : [directionsText(directions)];
  const text = [...(totals.length === 0 ? [] : [totalsText(survey)]), ...noText].join('; ');
  guesses.push(guess('rows', text, { totals: 'skip' }, or('to send all rows', { totals: 'send' })));
  return { options: { skipRows: withRows(skipRows, lines), totals: 'skip' }, guesses };
}

/** Rows whose text is no text; undefined for lists and subtitles, which have a question of their own. */
function directionsIn({ directions }: Survey, options: SheetOptions): NamedLines | undefined {
  const isOwn = options.format === 'subtitles' || options.delimiter === 'none';
  const isSent = options.totals === 'send' || options.skipRows?.length === 0;
  return directions.areSome && !isOwn && !isSent ? directions.lines : undefined;
}

const directionsText = ({ count, text, isWhole }: NamedLines): string =>
  `${text.replace('line', 'row')} ${count === 1 ? 'has' : 'have'} no text to send${isWhole ? '' : '; the further ones are sent'}`;

function totalsText({ totals, totalTexts, behindTotals }: Survey): string {
  const texts = totalTexts.map((text) => `"${text}"`);
  if (totals.length > texts.length) texts.push('…');
  const are = totals.length === 1 ? 'is not a row of the batch' : 'are not rows of the batch';
  const behind =
    behindTotals === 0 ? '' : `; ${behindTotals} after ${totals.length === 1 ? 'it' : 'them'} will be sent`;
  return `row${totals.length === 1 ? '' : 's'} ${rangesText(rangesOf(totals))} (${texts.join(', ')}) ${are}${behind}`;
}

/**
 * Chooses the sheet of a workbook with several. Results exported by runsheet have their rows in the first
 * one. Throws E111 if another sheet has more of the deployment's `inputs`.
 */
export async function sheetGuess(
  source: SheetSource,
  { format, sheet: wanted }: SheetOptions,
  names: readonly string[] = [],
  inputs: readonly string[] = [],
): Promise<GuessPart> {
  if (!isWorkbook(format) || wanted !== undefined || ownColumns(names).length < names.length) return NOTHING;
  const { sheet, begins, others } = await sheetHead(source);
  if (others.length === 0) return NOTHING;
  const better = betterSheet(others, begins, inputs);
  if (better !== undefined) throw otherSheet(source.name, sheet, better);
  const text = `sheet "${sheet}" is read (others: ${list(others.map(({ name }) => `"${name}"`))})`;
  return { options: { sheet }, guesses: [toConfirm('rows', text, { sheet })] };
}

type Better = { readonly name: string; readonly has: readonly string[] };

/** The sheet with the most inputs in one of its first rows, if more than in any of `own`. */
function betterSheet(
  otherSheets: readonly OtherSheet[],
  own: OtherSheet['begins'],
  inputs: readonly string[],
) {
  const inputByPlainName = new Map(inputs.map((input) => [plainName(input), input]));
  const inputsIn = (cells: readonly string[]): readonly string[] => [
    ...new Set(cells.flatMap((cell) => inputByPlainName.get(plainName(cell)) ?? [])),
  ];
  const [best] = otherSheets
    .flatMap(({ name, begins }) => begins.map((cells) => ({ name, has: inputsIn(cells) })))
    .sort((a, b) => b.has.length - a.has.length);
  return best !== undefined && own.every((cells) => best.has.length > inputsIn(cells).length)
    ? best
    : undefined;
}

const otherSheet = (file: string, sheet: string, { name, has }: Better): RunsheetError =>
  problem(
    'E111',
    {
      file,
      texts: `sheet "${sheet}" comes first, but "${name}" has the ${has.length === 1 ? 'column' : 'columns'} ${list(has)}`,
      flags: `--sheet-name ${shellWord(name)}`,
    },
    { place: { file }, correction: { add: [['--sheet-name', name]] } },
  );
