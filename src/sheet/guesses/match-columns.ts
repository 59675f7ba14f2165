// Guesses what the columns of a sheet mean, from their names and first cells. Nothing is guessed about a column that an option names.

import type { InputType } from '../../run-service/contract/deployment.ts';
import { list, problem, type RunsheetError } from '../../errors/error.ts';
import { shellWord } from '../../errors/outside-text.ts';
import { kindOf } from '../parse-cell.ts';
import type { SheetOptions } from '../sheet-source.ts';
import type { Column } from '../sheet-record.ts';
import { namesInTemplates } from '../templates.ts';
import { type Guess, plainName, said, type Settled, toConfirm, unconfirmed } from './guess.ts';
import {
  areOneSetting,
  containsWords,
  isDescriptive,
  isSetting,
  isTellingSetting,
  nameProper,
  sharedWords,
} from './input-names.ts';
import { fits, isMedia, isValue, type Sample, textLength, valuesAt } from './sample.ts';
import { letterOf, ownColumns } from '../header.ts';
import { certainInputs, inputsFor } from '../named-inputs.ts';
import { matchedIn, severalColumns } from './column-matches.ts';
import { filesUnsent, isAskedAbout, mappedBy, openColumns, unlikelyColumns } from './open-columns.ts';

export type MatchedColumns = Settled & {
  /** Columns without a meaning, or all whose meaning is not known; and those of them that may name the rows, the best first. */
  readonly data: readonly string[];
  readonly keys: readonly string[];
  /** Input → the column that it is likely to be, for required inputs that no column provides. */
  readonly likely: Readonly<Record<string, string>>;
  readonly problems: readonly RunsheetError[];
};

/** Names of columns that name rows, and others that mostly do. */
const KEYS = ['sku', 'id', 'key', 'article', 'name', 'filename'] as const;
const ALSO_KEYS = [
  /^handle$/,
  /[_\s-](?:id|sku|key)$/,
  /^(?:pic|picture|image|img|photo|file|output)[_\s-]?name$/,
] as const;

export type Matching = {
  readonly file: string;
  readonly columns: readonly Column[];
  readonly options: SheetOptions;
  /** Those of the deployment; without them, every column is an input. */
  readonly inputTypes: readonly InputType[] | undefined;
  readonly sample: Sample;
};

/** Throws E208 for two columns of one input. */
export function matchColumns({ file, columns, options, sample, ...given }: Matching): MatchedColumns {
  const names = columns.map(({ name }) => name);
  const inputTypes = given.inputTypes && inputsFor(given.inputTypes, options, names);
  const inputs = inputTypes?.map(({ name }) => name);
  const own = unclaimed(names, options, inputs);
  const gpu = guessedGpuColumn(own, options, inputs);
  const free = own.filter((name) => name !== gpu.column);
  refuseRepeats(columns, free, inputs);
  const settled = { ...options, ...gpu.options };
  const nothing = { guesses: gpu.guesses, data: [], keys: [], likely: {}, problems: [] };
  // Every column may be an input, so whatever else it seems to be has to be confirmed.
  if (inputs === undefined || inputTypes === undefined) {
    const nameless = columns
      .filter((one) => isUnnamed(one) && free.includes(one.name))
      .map(({ name }) => name);
    return {
      ...nothing,
      options: { ...settled, drop: [...options.drop, ...nameless] },
      data: free.filter((name) => !nameless.includes(name)),
      keys: options.keyColumn === undefined ? keysIn(free, false) : [],
    };
  }
  const valuesOf = (name: string): readonly string[] => valuesAt(sample, names.indexOf(name));
  const { matched, map, guesses, asked, missing } = meaningsOf(free, options, inputTypes, valuesOf);
  const data = free.filter((name) => !matched.has(name));
  refuseIdleAxis(data, options, inputTypes);
  const drop = [...options.drop, ...data];
  const likely = likelyColumns(missing, data, valuesOf);
  // A sheet without any column of the deployment is another sheet: what it lacks is said, or that nothing of it is known.
  const isOther =
    matched.size + asked.length + [options.map, options.set].flatMap((one) => Object.keys(one)).length === 0;
  if (isOther) {
    refuseValues(file, names, options, likely);
    const problems = inputTypes.some(({ required }) => required) ? [] : [noInput(file, columns, inputs)];
    return { ...nothing, options: { ...settled, drop }, likely, problems };
  }
  const idle = data.filter((name) => !isAskedAbout(name, asked));
  const braces = inBraces({ ...options.map, ...map }, free, data, inputTypes, valuesOf);
  return {
    options: { ...settled, map: { ...options.map, ...map, ...mappedBy(asked) }, drop },
    guesses: [...gpu.guesses, ...guesses, ...asked, ...notSent(idle, inputTypes), ...braces],
    data,
    keys: options.keyColumn === undefined ? keysIn(data, true) : [],
    likely,
    problems: [],
  };
}

/** The columns of the sheet itself that no option names. */
function unclaimed(
  names: readonly string[],
  { map, drop, set, gpuColumn, keyColumn }: SheetOptions,
  inputs: readonly string[] | undefined,
): readonly string[] {
  const taken = new Set([...Object.values(map), ...drop, gpuColumn, keyColumn]);
  for (const name of namesInTemplates(set, names)) if (inputs?.includes(name) !== true) taken.add(name);
  return ownColumns(names).filter((name) => !taken.has(name));
}

/** Which columns have a meaning, what is asked about others, and the required inputs that none has. */
function meaningsOf(
  free: readonly string[],
  { map: given, set }: SheetOptions,
  inputTypes: readonly InputType[],
  valuesOf: (name: string) => readonly string[],
) {
  const certain = certainInputs(inputTypes);
  const wanted = certain.filter(({ name }) => !Object.hasOwn(set, name) && !Object.hasOwn(given, name));
  const unlikely = unlikelyColumns(free, wanted, valuesOf);
  const fit = free.filter((name) => !unlikely.has(name));
  const { map, guesses } = matchedIn(fit, wanted, valuesOf);
  const byName = certain.flatMap(({ name }) => (fit.includes(name) ? [name] : []));
  const matched = new Set([...byName, ...Object.values(map)]);
  const left = fit.filter((name) => !matched.has(name));
  const open = openColumns(left, inputTypes);
  const unfed = wanted.filter(({ name }) => !matched.has(name) && !Object.hasOwn(map, name));
  const unasked = left.filter((name) => !isAskedAbout(name, open));
  const files = filesUnsent(unasked, unfed, valuesOf);
  const unplaced = unasked.filter((name) => !isAskedAbout(name, files));
  const asked = [...unlikely.values(), ...open, ...files, ...promptUnsent(unplaced, unfed, valuesOf)];
  const proposed = mappedBy(asked);
  return {
    matched: new Set([...matched, ...Object.values(proposed)]),
    map,
    guesses,
    asked,
    missing: unfed.filter(({ name, required }) => required && !Object.hasOwn(proposed, name)),
  };
}

/** A column of texts beside a prompt that no column has: the workflow's own would be used in each row. */
function promptUnsent(
  columns: readonly string[],
  unfed: readonly InputType[],
  valuesOf: (name: string) => readonly string[],
): readonly Guess[] {
  const prompt = unfed.find(({ name, fields, isIdle }) => name === 'prompt' && fields && isIdle !== true);
  const column = prompt && likelyColumns([prompt], columns, valuesOf)[prompt.name];
  if (column === undefined || !columns.includes(column)) return [];
  const text = `column "${column}" may be the prompt, and no other column is: each row has that of the workflow otherwise`;
  return [toConfirm('columns', text, '--map', `prompt=${column}`)];
}

/** Throws E104 if the names are values: the sheet has no header. */
function refuseValues(
  file: string,
  names: readonly string[],
  { format, headerRow }: SheetOptions,
  likely: Readonly<Record<string, string>>,
): void {
  const value = names.find(isValue) ?? names.find((name) => names.length === 1 && / .* /.test(name));
  if (value === undefined || headerRow !== undefined || format === 'json' || format === 'jsonl') return;
  const inputs = new Map(Object.entries(likely).map(([input, column]) => [names.indexOf(column), input]));
  const last = Math.max(...inputs.keys());
  const columns = names.slice(0, last + 1).map((_, at) => inputs.get(at) ?? letterOf(at));
  const isKnown = inputs.size > 0 && !inputs.has(-1);
  const flags = [['--header-row', 'none'] as const, ['--columns', columns.join(',')] as const];
  const what = `the first row seems to be no header: ${JSON.stringify(value)} is a value`;
  const header = 'if it is the header: --header-row 1';
  const hint = isKnown
    ? `if it is a row: ${flags.flat().map(shellWord).join(' ')}; ${header}`
    : `if it is a row: --header-row none --columns <names>; ${header}`;
  throw problem('E104', { what, hint }, { place: { file }, ...(isKnown && { correction: { add: flags } }) });
}

/** pandas writes `Unnamed: 4`. */
const isUnnamed = ({ name, isNameless }: Column) => isNameless === true || /^Unnamed: \d+$/.test(name);

/** Throws E208 for two columns of one name that may be an input. */
function refuseRepeats(
  columns: readonly Column[],
  free: readonly string[],
  inputs: readonly string[] | undefined,
): void {
  for (const { name, repeats } of columns) {
    if (repeats === undefined || !free.includes(name) || !free.includes(repeats)) continue;
    const input =
      inputs === undefined ? repeats : inputs.find((one) => nameProper(one) === nameProper(repeats));
    if (input !== undefined) throw severalColumns(input, [repeats, name]);
  }
}

/** Its values would buy the same runs again. */
function refuseIdleAxis(
  data: readonly string[],
  { grid = {} }: SheetOptions,
  inputTypes: readonly InputType[],
): void {
  const axis = data.find((name) => Object.hasOwn(grid, name));
  if (axis === undefined) return;
  const what = `--grid ${axis}: it is not clear which input of the deployment is meant, or it is another axis`;
  const { ask, fields = [] } = inputTypes.find(({ name }) => name === axis) ?? {};
  const hint =
    ask === undefined
      ? `call it as the input; inputs: ${list(inputTypes.map(({ name }) => name))}`
      : `name a field, such as --grid ${fields[0]}=…, or take a column and --map it to each of ${list(fields)}`;
  throw problem('E602', { what, hint });
}

const noInput = (file: string, [first]: readonly Column[], inputs: readonly string[]): RunsheetError =>
  problem(
    'E104',
    {
      what: 'no column of the sheet is an input of the deployment',
      hint: `inputs: ${list(inputs)}; name the column of one: --map ${inputs[0] ?? 'prompt'}=…`,
    },
    { place: { file, ...(first && first.line > 0 ? { line: first.line } : {}) } },
  );

/** The column that each input is most likely to be, by its values and its name; or a template of columns that have a word each. */
function likelyColumns(
  missing: readonly InputType[],
  data: readonly string[],
  valuesOf: (name: string) => readonly string[],
): Readonly<Record<string, string>> {
  const likely: Record<string, string> = {};
  for (const type of missing.toSorted((a, b) => Number(isMedia(b)) - Number(isMedia(a)))) {
    const isOfOther = (name: string): boolean =>
      missing.some((other) => other !== type && sharedWords(name, other.name) > 0);
    const left = data.filter((name) => !Object.values(likely).includes(name));
    const ranked = (pointsOf: typeof pointsFor): readonly string[] =>
      left
        .map((name) => ({ name, points: pointsOf(name, type, valuesOf(name)) }))
        .filter(({ points }) => points > 0)
        .toSorted((a, b) => b.points - a.points)
        .map(({ name }) => name);
    const [
      best = templateOf(
        ranked(shortText).filter((name) => !isOfOther(name)),
        data,
      ),
    ] = ranked(pointsFor);
    if (best !== undefined) likely[type.name] = best;
  }
  return likely;
}

/** The one column; of a few, each is a part of what is meant. */
function templateOf(ranked: readonly string[], data: readonly string[]): string | undefined {
  const isTemplate = ranked.length > 1 && ranked.length <= 3 && ranked.every((name) => !/[{}]/.test(name));
  if (!isTemplate) return ranked[0];
  return data
    .filter((name) => ranked.includes(name))
    .map((name) => `{${name}}`)
    .join(', ');
}

/** Letters: shorter texts are names and words. */
const LEAST_TEXT = 15;

function pointsFor(name: string, type: InputType, values: readonly string[]): number {
  if (!fits(values, type) || isTellingSetting(name)) return 0;
  const shared = 100 * sharedWords(name, type.name);
  if (isMedia(type)) return 1 + shared;
  if (kindOf(type.type) !== 'string' || type.options !== undefined) return shared;
  const length = textLength(values);
  // Of several that contain the name, the first one is meant, not the one with the longest texts.
  if (length > 0 && containsWords(name, type.name) && keysIn([name], true).length === 0) return 1000;
  const named = shared + (isDescriptive(name) ? 100 : 0);
  return length > 0 && length + named >= LEAST_TEXT ? length + named : 0;
}

/** Short texts are likely only where there are no others. */
function shortText(name: string, type: InputType, values: readonly string[]): number {
  const isText = kindOf(type.type) === 'string' && type.options === undefined && !isMedia(type);
  const isName = keysIn([name], true).length > 0 && plainName(name) !== 'name';
  return isText && !isName && !isTellingSetting(name) && values.length > 0 ? textLength(values) : 0;
}

/** A setting that the deployment does not have changes nothing, which its user may not know. */
const notSent = (data: readonly string[], inputTypes: readonly InputType[]): readonly Guess[] =>
  data
    .filter((name) => {
      // A workflow makes something else of what its user obviously means.
      const isMeant = inputTypes.some(({ fields }) => fields !== undefined) ? isSetting : isTellingSetting;
      return isMeant(name) && !inputTypes.some((input) => areOneSetting(name, input.name));
    })
    .map((name) =>
      toConfirm('columns', `column "${name}" is not sent: the deployment has no such input`, '--drop', name),
    );

/** A cell that is sent is no template, although it may be meant as one. */
function inBraces(
  map: Readonly<Record<string, string>>,
  free: readonly string[],
  data: readonly string[],
  inputTypes: readonly InputType[],
  valuesOf: (name: string) => readonly string[],
): readonly Guess[] {
  const texts = inputTypes.filter((type) => kindOf(type.type) === 'string' && !isMedia(type));
  return texts.flatMap(({ name }) => {
    const column = map[name] ?? (free.includes(name) ? name : undefined);
    if (column === undefined) return [];
    const named = [...namesInTemplates(valuesOf(column), data)];
    if (named.length === 0) return [];
    const braces = list(named.map((one) => `{${one}}`));
    const text = `cells of "${column}" have ${braces}, which is sent as it stands; only --set has templates`;
    return [toConfirm('columns', text, ...named.flatMap((one) => ['--drop', one]))];
  });
}

const MOST_NAMED = 8;

/** The message about columns without a meaning that nothing else is said about. */
export function keptAsData(all: readonly string[], guesses: readonly Guess[]): readonly Guess[] {
  const asked = new Set(unconfirmed(guesses).flatMap(({ flags }) => flags));
  const data = all.filter((name) => !asked.has(name));
  if (data.length === 0) return [];
  const more = data.length > MOST_NAMED ? ` and ${data.length - MOST_NAMED} more` : '';
  const what =
    data.length === 1 ? 'is not an input and changes nothing' : 'are not inputs and change nothing';
  const text = `${list(data.slice(0, MOST_NAMED))}${more} ${what}`;
  return [said('columns', text, ...(more === '' ? data.flatMap((name) => ['--drop', name]) : []))];
}

function guessedGpuColumn(
  own: readonly string[],
  options: SheetOptions,
  inputs: readonly string[] | undefined,
): { readonly column?: string; readonly options: Partial<SheetOptions>; readonly guesses: readonly Guess[] } {
  const isSettled = options.gpuColumn !== undefined || inputs?.some((input) => plainName(input) === 'gpu');
  const [column, ...others] = isSettled ? [] : own.filter((name) => plainName(name) === 'gpu');
  if (column === undefined || others.length > 0) return { options: {}, guesses: [] };
  if (column === 'gpu') return { column, options: {}, guesses: [] };
  const guess = said('gpu', `column "${column}" names the GPU of each row`, '--gpu-column', column);
  return { column, options: { gpuColumn: column }, guesses: [guess] };
}

/** `isDeclared`: a column of another name may be an input if the inputs are not known. */
function keysIn(data: readonly string[], isDeclared: boolean): readonly string[] {
  const own = KEYS.flatMap((key) => data.filter((name) => plainName(name) === key));
  const others = isDeclared ? ALSO_KEYS : [];
  const also = others.flatMap((key) => data.filter((name) => key.test(name.trim().toLowerCase())));
  return [...new Set([...own, ...also])];
}
