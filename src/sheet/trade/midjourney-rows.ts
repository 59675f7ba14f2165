// Reads a list or a CSV of prompts for Midjourney: each parameter becomes a cell of its own column.

import { csvColumns, csvRecords } from '../csv/csv.ts';
import { cellText, firstOf, MAX_RECORD, type RecordFault } from '../sheet-record.ts';
import type { SheetOptions, SheetSource } from '../sheet-source.ts';
import { lenientTextOf, linesOf } from '../text/sheet-text.ts';
import { isChat } from './chat.ts';
import { isCommand, isMidjourney, MIDJOURNEY, midjourneyCells, permutationIn } from './midjourney.ts';
import type { TextRow } from './text-row.ts';

/** Rows that decide which columns have prompts. */
const SAMPLED = 200;

/** The rows, in which columns of prompts have the text alone. */
export async function* midjourneyRows(source: SheetSource, own: SheetOptions): AsyncGenerator<TextRow> {
  const { options, names, prompts } = await promptsIn(source, own);
  const isOfCommands =
    options.delimiter === 'none' && options.totals === 'skip' && (await hasCommands(source, options));
  for await (const { line, cells, fault } of csvRecords(source, options, names)) {
    const isList = options.delimiter === 'none';
    if (isOfCommands && !isCommand(cellText(cells[0]))) continue;
    const row = Object.fromEntries(
      names.map((name, at) => [name, isList ? unquoted(cellText(cells[at])) : cellText(cells[at])]),
    );
    const braces = prompts.flatMap((name) => permutationIn(row[name] ?? '') ?? [])[0];
    const parts = prompts.flatMap((name) => {
      const { text, cells: byColumn } = midjourneyCells(row[name] ?? '');
      row[name] = text;
      return Object.entries(byColumn);
    });
    const variants = fault ?? permuted(line, braces);
    yield { row: line, cells: { ...row, ...besideOwn(row, parts) }, ...(variants && { fault: variants }) };
  }
}

/** Whether the text is a chat with commands, whose other lines are names, times, answers and what the program shows again. */
export async function hasCommands(source: SheetSource, options: SheetOptions): Promise<boolean> {
  const lines = await Array.fromAsync(firstOf(linesOf(lenientTextOf(source, options), MAX_RECORD), SAMPLED));
  return isChat(lines) && lines.some(isCommand);
}

const permuted = (line: number, braces: string | undefined): RecordFault | undefined =>
  braces === undefined
    ? undefined
    : {
        line,
        column: 1,
        what: `${braces} is a permutation, from which Midjourney makes several prompts`,
        hint: 'write a line for each of them; to send the texts as they stand: --format csv',
      };

/** A line copied from a list in code may be in quotes, and end with a comma. */
function unquoted(line: string): string {
  const text = /^"((?:[^"]|"")*)"$/.exec(line.trim().replace(/,$/, ''))?.[1];
  return text === undefined ? line : text.replaceAll('""', '"');
}

/** The columns in which most cells have parameters, or else any cell; and all columns of the sheet as a table. */
export async function promptsIn(source: SheetSource, own: SheetOptions) {
  const options: SheetOptions = { ...own, format: /\.tsv$/i.test(source.name) ? 'tsv' : 'csv' };
  const names = (await csvColumns(source, options)).map(({ name }) => name);
  const sample = await Array.fromAsync(firstOf(csvRecords(source, options, names), SAMPLED), ({ cells }) =>
    cells.map(cellText),
  );
  const withParameters = names.flatMap((name, at) => {
    const texts = sample.map((cells) => cells[at] ?? '').filter((text) => text.trim() !== '');
    const count = texts.filter(isMidjourney).length;
    return count === 0 ? [] : [{ name, isMost: count * 2 >= texts.length }];
  });
  const most = withParameters.filter(({ isMost }) => isMost);
  return { options, names, prompts: (most.length > 0 ? most : withParameters).map(({ name }) => name) };
}

const isCalled = (column: string, part: string): boolean =>
  column.toLowerCase().replaceAll(/[\s_-]+/g, '_') === part;

/** The parameter that a cell came from, where the row has its own value and the parameter is not sent. */
const SIGNS: Readonly<Record<string, string>> = {
  [MIDJOURNEY.seed]: '--seed',
  [MIDJOURNEY.ratio]: '--ar',
  [MIDJOURNEY.parameters]: '',
};

/** A filled cell of the sheet's own column stays: unwanted words join it, and other parameters are named as not sent. */
function besideOwn(
  row: Readonly<Record<string, string>>,
  parts: readonly (readonly [name: string, text: string])[],
): Readonly<Record<string, string>> {
  const nameOf = (part: string): string => Object.keys(row).find((column) => isCalled(column, part)) ?? part;
  const ownOf = (part: string): string => (row[nameOf(part)] ?? '').trim();
  const ratio = parts.find(([part]) => part === MIDJOURNEY.ratio)?.[1] ?? '';
  const isSized =
    ownOf(MIDJOURNEY.width) !== '' ||
    ownOf(MIDJOURNEY.height) !== '' ||
    !['', ratio].includes(ownOf(MIDJOURNEY.ratio));
  const cells: Record<string, string> = {};
  const unsent: string[] = [];
  for (const [part, text] of parts) {
    const isOfSize = part === MIDJOURNEY.ratio || part === MIDJOURNEY.width || part === MIDJOURNEY.height;
    const [name, own] = [nameOf(part), isOfSize && isSized ? 'a size' : ownOf(part)];
    if (own === '' || own === text) cells[name] = text;
    else if (part === MIDJOURNEY.negative) cells[name] = `${own}, ${text}`;
    else if (SIGNS[part] !== undefined) unsent.push(`${SIGNS[part]} ${text}`.trim());
  }
  if (unsent.length === 0) return cells;
  const before = cells[MIDJOURNEY.parameters];
  return {
    ...cells,
    [MIDJOURNEY.parameters]: [...(before === undefined ? [] : [before]), ...unsent].join(' '),
  };
}
