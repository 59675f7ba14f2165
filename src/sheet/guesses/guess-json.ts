// Guesses where a JSON document has its rows, and what its names mean.

import { list, problem, RunsheetError } from '../../errors/error.ts';
import type { InputType } from '../../service-client/contract/deployment.ts';
import { JsonWalk, type OpenedValue } from '../json/json-elements.ts';
import { pathsIn } from '../json/json.ts';
import { areTextMembers, textPaths } from '../json/text-members.ts';
import { settleRows } from '../grid/settle-rows.ts';
import { columnsOf } from '../read-records.ts';
import type { Column } from '../sheet-record.ts';
import { GIVEN_ROWS, type SheetSource, type SheetOptions } from '../sheet-source.ts';
import { lenientTextOf, linesOf } from '../text/sheet-text.ts';
import { besideList, membersBeside } from './beside-list.ts';
import {
  type Guess,
  type GuessOptions,
  NOTHING,
  type GuessPart,
  restingOn,
  said,
  type SettledSheet,
  toConfirm,
  unconfirmed,
} from './guess.ts';
import { nameProper } from './input-names.ts';
import { matchColumns, type MatchedColumns } from './match-columns.ts';
import { objectParts } from './object-parts.ts';
import { mappedBy } from './open-columns.ts';
import { listInput, sampleOf, valuesAt } from './sample.ts';

/** The meaning of columns, before a survey of the rows shows which one names them. */
type NamedColumns = MatchedColumns & { readonly columns: readonly Column[] };

/** Throws E103 if several lists may be the rows. */
export async function settleJson(
  source: SheetSource,
  userOptions: SheetOptions,
  inputTypes: readonly InputType[] | undefined,
): Promise<SettledSheet & { readonly named?: NamedColumns }> {
  const shape = await shapeOf(source, userOptions);
  const document = documentGuess(source.name, userOptions, shape, inputTypes);
  const parts = [
    await commentGuess(source, userOptions),
    document,
    listGuess({ ...userOptions, ...document.options }, shape, inputTypes),
  ];
  const merged: SheetOptions = Object.assign({}, userOptions, ...parts.map((part) => part.options));
  if (merged.orient !== 'columns') parts.push(wrappingGuess(merged, shape, inputTypes));
  const shaped: SheetOptions = Object.assign({}, userOptions, ...parts.map((part) => part.options));
  const { options, guesses: ofRows } = await settleRows(source, shaped, inputTypes);
  const guesses = [...parts.flatMap((part) => part.guesses), ...ofRows];
  const { records, orient, unwrap } = options;
  const isNested = (records ?? orient ?? unwrap) !== undefined || pathsIn(options).length > 0;
  // Objects written by programs need no guesses.
  if (!isNested && source.name === GIVEN_ROWS) return { options, guesses, problems: [] };
  try {
    const columns = await columnsOf(source, options);
    const names = columns.map(({ name }) => name);
    const sample = await sampleOf(source, options, names);
    const matched = matchColumns({ file: source.name, columns, options, inputTypes, sample });
    const valuesOf = (name: string): readonly string[] => valuesAt(sample, names.indexOf(name));
    const objects = objectParts({
      columns: names,
      inputTypes,
      options: { ...matched.options, drop: userOptions.drop },
      userOptions,
      valuesOf,
    });
    if (objects.length > 0) {
      const map = { ...userOptions.map, ...mappedBy(objects) };
      const drop = [...userOptions.drop, ...objects.flatMap(({ options: { drop: unsent = [] } }) => unsent)];
      const again = await settleJson(source, { ...userOptions, map, drop }, inputTypes);
      return { ...again, guesses: [...objects, ...again.guesses] };
    }
    const beside = besideList({
      outer: await membersBeside(source, options),
      columns: names,
      inputTypes,
      options: matched.options,
      cellsOf: (name) => sample.map((cells) => cells[names.indexOf(name)] ?? ''),
    });
    const questions = unconfirmed(beside);
    if (questions.length > 0) {
      const set = Object.assign({}, userOptions.set, ...questions.map((guess) => guess.options.set));
      const again = await settleJson(source, { ...userOptions, set }, inputTypes);
      return { ...again, guesses: [...questions, ...again.guesses] };
    }
    guesses.push(...beside);
    return { ...matched, guesses: [...guesses, ...matched.guesses], named: { columns, ...matched } };
  } catch (error) {
    // The layout reports the error with its line.
    if (error instanceof RunsheetError && error.code !== 'E208') return { options, guesses, problems: [] };
    throw restingOn(error, guesses);
  }
}

/** How many characters of a document are inspected. */
const LOOKED_AT = 1024 * 1024;

/** A list of rows is not nested deeper. */
const DEEPEST = 6;

/** The values that begin in the first row, or in the document. */
async function shapeOf(source: SheetSource, options: SheetOptions): Promise<readonly OpenedValue[]> {
  const walk = new JsonWalk();
  const merged: OpenedValue[] = [];
  let read = 0;
  const texts =
    options.format === 'jsonl'
      ? linesOf(lenientTextOf(source, options), LOOKED_AT)
      : lenientTextOf(source, options);
  for await (const text of texts) {
    if (options.format === 'jsonl' && (text.trim() === '' || isComment(text))) continue;
    for (const { path, opens } of walk.walk(text)) if (path.length <= DEEPEST) merged.push({ path, opens });
    read += text.length;
    if (options.format === 'jsonl' || read > LOOKED_AT || merged.length > 10_000) break;
  }
  return merged;
}

const isComment = (text: string): boolean => /^\s*(?:#|\/\/)/.test(text);

async function commentGuess(source: SheetSource, options: SheetOptions): Promise<GuessPart> {
  if (options.format !== 'jsonl' || options.comment !== undefined) return NOTHING;
  const lines: number[] = [];
  let prefix = '//';
  let line = 0;
  for await (const text of linesOf(lenientTextOf(source, options), 10)) {
    line += 1;
    if (!isComment(text)) continue;
    prefix = text.trimStart().startsWith('#') ? '#' : '//';
    if (lines.push(line) === 10) break;
  }
  if (lines.length === 0) return NOTHING;
  const text = `lines that begin with ${prefix} are comments: ${list(lines.map(String))}`;
  return { options: { comment: prefix }, guesses: [toConfirm('rows', text, { comment: prefix })] };
}

function documentGuess(
  file: string,
  { format, records, orient }: SheetOptions,
  shape: readonly OpenedValue[],
  inputTypes: readonly InputType[] | undefined,
): GuessPart {
  if (format !== 'json' || (records ?? orient) !== undefined || shape[0]?.opens !== '{') return NOTHING;
  const members = shape.filter(({ path }) => path.length === 1);
  const opens = (path: readonly string[]): string | undefined =>
    shape.find((opened) => opened.path.join('.') === path.join('.'))?.opens;
  const lists = shape
    .filter(({ path, opens: kind }) => kind === '[' && path.length < DEEPEST - 1 && !path.includes('0'))
    .map(({ path }) => path);
  const isInputName = (name: string): boolean =>
    inputTypes?.some((type) => nameProper(type.name) === nameProper(name)) ?? false;
  const isInput = ({ path: [name = ''] }: OpenedValue): boolean => isInputName(name);
  const holdsValues = members.every(
    ({ path, opens: kind }) => kind === '{' || (kind === '[' && opens([...path, '0']) !== '{'),
  );
  if (holdsValues && members.some(isInput))
    return saidForm('the document has columns, each with its values', { orient: 'columns' });
  const full = lists.filter(
    (path) => opens([...path, '0']) === '{' || (lists.length === 1 && opens([...path, '0']) === '"'),
  );
  if (full.length > 1) {
    const choices = full.map((path) => `--records ${path.join('.')}`);
    throw problem(
      'E103',
      { what: 'several lists of the document may have its rows', hint: `name one of them: ${list(choices)}` },
      { place: { file } },
    );
  }
  const [path] = full;
  if (path !== undefined)
    return saidForm(`the rows are in the list ${path.join('.')}`, { records: path.join('.') });
  if (lists.length === 0 && areTextMembers(shape, isInputName)) return textsGuess(shape, inputTypes);
  if (members.length > 0 && members.every(({ opens: kind }) => kind === '{'))
    return saidForm('each member of the document is a row', { orient: 'index' });
  const isOne = members.some(isInput) && shape.filter((opened) => opened.path.length === 0).length === 1;
  return isOne ? saidForm('the document is one row', { orient: 'row' }) : NOTHING;
}

/** The user chooses the texts: those of menus and credits stand beside those of speakers. */
function textsGuess(shape: readonly OpenedValue[], inputTypes: readonly InputType[] | undefined): GuessPart {
  const input = listInput(inputTypes);
  const columns = input === undefined || input === 'text' ? {} : { columns: [input] };
  const options = { orient: 'texts', ...columns } as const;
  const keys = textPaths(shape).map((path) => path.join('.'));
  const text = `each text of the document is a row, with its path in column "key", such as ${list(keys.slice(0, 3))}; empty texts and members that begin with _, @ or $ are left out`;
  return { options, guesses: [toConfirm('rows', text, options)] };
}

const saidForm = (text: string, options: GuessOptions): GuessPart => ({
  options,
  guesses: [said('header', text, options)],
});

/** A list of texts, each for one input. */
function listGuess(
  { columns, records }: SheetOptions,
  shape: readonly OpenedValue[],
  inputTypes: readonly InputType[] | undefined,
): GuessPart {
  const input = listInput(inputTypes);
  const within = records?.split('.') ?? [];
  const { path = [], opens } =
    shape.find((opened) => opened.opens === '"' && within.every((name, nth) => opened.path[nth] === name)) ??
    {};
  const isList = opens === '"' && path.slice(within.length).every((name) => name === '0');
  if (columns !== undefined || input === undefined || !isList) return NOTHING;
  const guess: Guess = said('header', `each value of the list is one ${input}`, { columns: [input] });
  return { options: { columns: [input] }, guesses: [guess] };
}

/** Rows as {"inputs": {…}}, as requests have them, as the lines of a batch of OpenAI, or with all of their inputs in another object. */
function wrappingGuess(
  { format, records, unwrap, map, set, orient }: SheetOptions,
  shape: readonly OpenedValue[],
  inputTypes: readonly InputType[] = [],
): GuessPart {
  const isInput = (name: string) => inputTypes.some((type) => nameProper(type.name) === nameProper(name));
  const [first = ''] = shape.find(({ path }) => path.length === 1)?.path ?? [];
  // Paths of the first row.
  const isWhole = format === 'jsonl' || orient === 'row';
  const start = isWhole ? [] : orient === 'index' ? [first] : [...(records?.split('.') ?? []), '0'];
  const members = shape.flatMap(({ path, opens }) => {
    const names = path.slice(start.length);
    return names.length === 0 || start.some((name, at) => path[at] !== name) ? [] : [{ names, opens }];
  });
  const own = members.filter(({ names }) => names.length === 1);
  const isBatchLine = own.some(({ names: [name] }) => name === 'custom_id');
  const isMeant = (name: string): boolean => isInput(name) || Object.values(map).includes(name);
  const holds = own.flatMap(({ names: [name = ''], opens }) =>
    opens === '{' &&
    ((isBatchLine && name === 'body') ||
      members.some(({ names }) => names[0] === name && names.length === 2 && isMeant(names[1] ?? '')))
      ? [name]
      : [],
  );
  const [wrapping] = holds;
  if (unwrap !== undefined || wrapping === undefined || holds.length > 1) return NOTHING;
  const isMapped = (name: string) =>
    Object.values(map).some((path) => path === name || path.startsWith(`${name}.`)) ||
    Object.values(set).some((text) => text.includes(`{${name}`));
  if (own.some(({ names: [name = ''] }) => isInput(name) || isMapped(name))) return NOTHING;
  const guess = said('columns', `the inputs of a row are in its object ${wrapping}`, { unwrap: wrapping });
  return { options: { unwrap: wrapping }, guesses: [guess] };
}
