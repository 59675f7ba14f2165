// Guesses the meaning of columns from their names and first cells. Columns that an option names are not guessed.

import { wholeColumn } from '../cell-parts.ts';
import { isJson } from '../formats.ts';
import type { InputType } from '../../service-client/contract/deployment.ts';
import { list, problem, type RunsheetError } from '../../errors/error.ts';
import type { SheetOptions } from '../sheet-source.ts';
import type { Column } from '../sheet-record.ts';
import { namesInTemplates } from '../templates.ts';
import { type Guess, type LikelyColumns, mapped, plainName, said, type Settled, toConfirm } from './guess.ts';
import { nameProper } from './input-names.ts';
import { refuseTranslations, translatedRows } from './language-columns.ts';
import { midjourneyColumns } from './midjourney-columns.ts';
import { refuseDivided } from './divided-texts.ts';
import { nearColumns } from './near-columns.ts';
import { keysIn, uniqueIn } from './key-columns.ts';
import { likelyColumns, taggedColumns } from './likely-columns.ts';
import { type SampledRows, valuesAt, SAMPLED } from './sample.ts';
import { sharedColumns } from './shared-columns.ts';
import { namelessUnsent } from './nameless-columns.ts';
import { sentAsWritten, settingsUnsent } from './unsent-settings.ts';
import { noHeader, valueAmong } from './headerless.ts';
import { ownColumns } from '../result-columns.ts';
import { certainInputs, inputsFor } from '../named-inputs.ts';
import { matchedIn, severalColumns } from './column-matches.ts';
import { filesUnsent, isAskedAbout, mappedBy, openColumns, unlikelyColumns } from './open-columns.ts';

export type MatchedColumns = Settled & {
  /** Columns without a known meaning, and those among them that may name rows, best first. */
  readonly data: readonly string[];
  readonly keys: readonly string[];
  /** Columns that nothing sends and no question is about, with their places. */
  readonly idle?: ReadonlyMap<string, number>;
  /** Required input without a column → its most likely column. */
  readonly likely: LikelyColumns;
  readonly problems: readonly RunsheetError[];
};

export type Matching = {
  readonly file: string;
  readonly columns: readonly Column[];
  readonly options: SheetOptions;
  /** The deployment's inputs; without them, every column is an input. */
  readonly inputTypes: readonly InputType[] | undefined;
  readonly sample: SampledRows;
  /** The columns whose parameters of Midjourney are read. */
  readonly prompts?: readonly string[];
};

/** Throws E208 for two columns of one input, and E104 for texts in several columns. */
export function matchColumns({ file, columns, options, sample, ...matching }: Matching): MatchedColumns {
  const names = columns.map(({ name }) => name);
  const inputTypes = matching.inputTypes && inputsFor(matching.inputTypes, options, names);
  const inputs = inputTypes?.map(({ name }) => name);
  const own = unclaimed(names, options, inputs);
  const gpu = guessedGpuColumn(own, options, inputs);
  const free = own.filter((name) => name !== gpu.column);
  refuseRepeats(columns, free, inputs);
  const settled = { ...options, ...gpu.options };
  const nothing = { guesses: gpu.guesses, data: [], keys: [], likely: {}, problems: [] };
  // Every column may be an input, so any other meaning must be confirmed.
  if (inputs === undefined || inputTypes === undefined) {
    return { ...nothing, ...undeclared(columns, free, settled) };
  }
  const { placeOf, isSurplus, valuesOf, cellsOf } = cellsIn(columns, options, sample);
  const facts = { free, options, inputTypes, valuesOf, cellsOf };
  const { matched, map, guesses, questions, missing } = meaningsOf(facts);
  const data = free.filter((name) => !matched.has(name));
  refuseIdleAxis(data, options, inputTypes);
  const drop = [...options.drop, ...data];
  const translation = { names, data, options, inputTypes, missing, cellsOf };
  refuseTranslations(file, translation);
  const likely = likelyColumns(missing, data, valuesOf);
  refuseDivided(file, likely, cellsOf);
  const told = [...gpu.guesses, ...taggedColumns(likely, valuesOf)];
  // Without any column of the deployment, it is the wrong sheet: report what it lacks, or that nothing is known about it.
  if (matched.size + questions.length === 0 && !isToldIn(options)) {
    refuseValues(file, columns, options, likely);
    const problems = inputTypes.some(({ required }) => required) ? [] : [noInput(file, columns, inputs)];
    return { ...nothing, guesses: told, options: { ...settled, drop }, likely, problems };
  }
  const unasked = data.filter((name) => !isAskedAbout(name, questions) && !hasSentPart(name, options));
  const midjourney = midjourneyColumns({
    ...facts,
    idle: unasked,
    prompts: matching.prompts ?? [],
    sent: [...matched, ...Object.values(options.map)],
  });
  const idle = unasked.filter((name) => !midjourney.about.includes(name));
  // Exports have columns for everything, even for what no row has.
  const mayHaveValues = (name: string): boolean => sample.length === SAMPLED || valuesOf(name).length > 0;
  const unsent = [
    ...settingsUnsent(idle.filter(mayHaveValues), inputTypes, valuesOf),
    ...translatedRows({ ...translation, data: idle }, { ...options.map, ...map }),
    ...namelessUnsent(idle, options, inputTypes, valuesOf),
  ];
  const open = idle.filter((name) => !isSurplus(placeOf(name)) && !isAskedAbout(name, unsent));
  const isOwn = (name: string): boolean =>
    !columns.some((column) => column.name === name && isUnnamed(column));
  const isKeyed = isJson(options.format) || options.format === 'subtitles' || options.keyColumn !== undefined;
  const written = sentAsWritten({ ...options.map, ...map }, { free, data, options, inputTypes, valuesOf });
  return {
    options: { ...settled, map: { ...options.map, ...map, ...mappedBy(questions) }, drop },
    guesses: [...told, ...guesses, ...questions, ...midjourney.guesses, ...unsent, ...written],
    data,
    idle: new Map(open.map((name) => [name, placeOf(name)])),
    keys: [
      ...keysOf(data, options, true),
      ...(isKeyed ? [] : uniqueIn(open.filter(isOwn), cellsOf, names[0])),
    ],
    likely,
    problems: [],
  };
}

/** Each column with a name is an input. */
function undeclared(columns: readonly Column[], free: readonly string[], options: SheetOptions) {
  const nameless = columns
    .filter((column) => isUnnamed(column) && free.includes(column.name))
    .map(({ name }) => name);
  return {
    options: { ...options, drop: [...options.drop, ...nameless] },
    data: free.filter((name) => !nameless.includes(name)),
    keys: keysOf(free, options, false),
  };
}

/** Whether the user names the source of an input. */
const isToldIn = ({ map, set }: SheetOptions): boolean => Object.keys({ ...map, ...set }).length > 0;

/** The places and cells of columns by their names. Cells beyond the header are data, whatever they say. */
function cellsIn(columns: readonly Column[], { longRows }: SheetOptions, sample: SampledRows) {
  const places = new Map(columns.map(({ name }, at) => [name, at] as const).toReversed());
  const placeOf = (name: string): number => places.get(name) ?? -1;
  const isSurplus = (at: number): boolean => longRows === true && columns[at]?.isNameless === true;
  return {
    placeOf,
    isSurplus,
    valuesOf: (name: string): readonly string[] =>
      // A header that comes again is no value.
      isSurplus(placeOf(name)) ? [] : valuesAt(sample, placeOf(name)).filter((text) => text !== name),
    cellsOf: (name: string): readonly string[] => sample.map((cells) => cells[placeOf(name)] ?? ''),
  };
}

/** Whether an input gets a part of the objects of this column. */
const hasSentPart = (name: string, { map }: SheetOptions): boolean =>
  Object.values(map).some((path) => path.startsWith(`${name}.`));

/** The columns that may name rows; in subtitles, the number of the cue. */
function keysOf(data: readonly string[], { keyColumn, format }: SheetOptions, isDeclared: boolean) {
  if (keyColumn !== undefined) return [];
  return format === 'subtitles' ? data.filter((name) => name === 'index') : keysIn(data, isDeclared);
}

/** The sheet's own columns that no option names. */
function unclaimed(
  names: readonly string[],
  { map, drop, set, gpuColumn, keyColumn }: SheetOptions,
  inputs: readonly string[] | undefined,
): readonly string[] {
  const mappedNames = Object.values(map).map((name) => wholeColumn(name, names));
  const taken = new Set([...mappedNames, ...drop, gpuColumn, keyColumn]);
  for (const name of namesInTemplates(set, names)) if (inputs?.includes(name) !== true) taken.add(name);
  return ownColumns(names).filter((name) => !taken.has(name));
}

type MeaningFacts = {
  readonly free: readonly string[];
  readonly options: SheetOptions;
  readonly inputTypes: readonly InputType[];
  /** The filled cells of the first rows of a column, and all of them. */
  readonly valuesOf: (name: string) => readonly string[];
  readonly cellsOf: (name: string) => readonly string[];
};

/** The columns with a meaning, the questions about uncertain ones, and required inputs without a column. */
function meaningsOf({ free, options, inputTypes, valuesOf, cellsOf }: MeaningFacts) {
  const { map: userMap, set } = options;
  const certain = certainInputs(inputTypes);
  const wanted = certain.filter(({ name }) => !Object.hasOwn(set, name) && !Object.hasOwn(userMap, name));
  const unlikely = unlikelyColumns(free, wanted, valuesOf);
  const fit = free.filter((name) => !unlikely.has(name));
  const { map, guesses } = matchedIn(fit, wanted, valuesOf);
  const byName = certain.flatMap(({ name }) => (fit.includes(name) ? [name] : []));
  const matched = new Set([...byName, ...Object.values(map)]);
  const left = fit.filter((name) => !matched.has(name));
  const open = openColumns(left, inputTypes);
  const unfed = wanted.filter(({ name }) => !matched.has(name) && !Object.hasOwn(map, name));
  const unasked = left.filter((name) => !isAskedAbout(name, open));
  const shared = sharedColumns({ left: unasked, map, fit, certain, unfed, valuesOf });
  const single = unasked.filter((name) => !isAskedAbout(name, shared));
  const files = filesUnsent(single, unfed, valuesOf);
  const unplaced = single.filter((name) => !isAskedAbout(name, files));
  const prompts = promptUnsent(unplaced, unfed, valuesOf);
  const earlier = [...unlikely.values(), ...open, ...shared, ...files, ...prompts];
  const columnOf = ({ name }: InputType): string | undefined =>
    map[name] ?? userMap[name] ?? byName.find((column) => column === name);
  const near = nearColumns({
    columns: unplaced.filter((name) => !isAskedAbout(name, prompts) && !isAskedAbout(name, guesses)),
    // The refusal of a required input proposes these columns.
    unfed: unfed.some(({ required }) => required)
      ? []
      : unfed.filter(({ name }) => !Object.hasOwn(mappedBy(earlier), name)),
    fed: new Map(
      certain.flatMap((type) => {
        const column = columnOf(type);
        return column === undefined ? [] : [[type, column]];
      }),
    ),
    options,
    valuesOf,
    cellsOf,
  });
  const questions = [...earlier, ...near];
  const proposed = mappedBy(questions);
  return {
    matched: new Set([...matched, ...Object.values(proposed)]),
    map,
    guesses,
    questions,
    missing: unfed.filter(({ name, required }) => required && !Object.hasOwn(proposed, name)),
  };
}

/** Asks about a text column when no column feeds the prompt: the workflow's own prompt would be used in each row. */
function promptUnsent(
  columns: readonly string[],
  unfed: readonly InputType[],
  valuesOf: (name: string) => readonly string[],
): readonly Guess[] {
  const prompt = unfed.find(({ name, fields, isIdle }) => name === 'prompt' && fields && isIdle !== true);
  const column = prompt && likelyColumns([prompt], columns, valuesOf)[prompt.name];
  if (typeof column !== 'string') return [];
  const text = `column "${column}" may be the prompt, and no other column is: each row has that of the workflow otherwise`;
  return [toConfirm('columns', text, mapped('prompt', column))];
}

/** Throws E104 if the names are values: the sheet has no header. */
function refuseValues(
  file: string,
  columns: readonly Column[],
  { format, headerRow }: SheetOptions,
  likely: LikelyColumns,
): void {
  const names = columns.map(({ name }) => name);
  const value = valueAmong(names);
  if (value === undefined || headerRow !== undefined || isJson(format)) return;
  const inputs = new Map(
    Object.entries(likely).flatMap(([input, column]) =>
      typeof column === 'string' ? [[names.indexOf(column), input] as const] : [],
    ),
  );
  throw noHeader(file, value, { inputs }, columns[0]?.line ?? 1);
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
      inputs === undefined
        ? repeats
        : inputs.find((inputName) => nameProper(inputName) === nameProper(repeats));
    if (input !== undefined) throw severalColumns(input, [repeats, name]);
  }
}

/** An axis that fits no input would buy identical runs. */
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

function guessedGpuColumn(
  own: readonly string[],
  options: SheetOptions,
  inputs: readonly string[] | undefined,
): { readonly column?: string; readonly options: Partial<SheetOptions>; readonly guesses: readonly Guess[] } {
  const isSettled = options.gpuColumn !== undefined || inputs?.some((input) => plainName(input) === 'gpu');
  const [column, ...furtherColumns] = isSettled ? [] : own.filter((name) => plainName(name) === 'gpu');
  if (column === undefined || furtherColumns.length > 0) return { options: {}, guesses: [] };
  if (column === 'gpu') return { column, options: {}, guesses: [] };
  const guess = said('gpu', `column "${column}" names the GPU of each row`, { gpuColumn: column });
  return { column, options: { gpuColumn: column }, guesses: [guess] };
}
