// Maps columns to inputs and types. Computed once, before the first row is read, so each header error is reported once.

import { isJson } from './formats.ts';
import { partNamed } from './cell-parts.ts';
import { columnsIn, templateIn, templateText, namesInTemplates } from './templates.ts';
import { correctionOf, hintAmong, list, nearest, problem, type RunsheetError } from '../errors/error.ts';
import { shellWord } from '../errors/outside-text.ts';
import type { SheetOptions } from './sheet-source.ts';
import { withSigns } from './text/entities.ts';
import { plainText } from './text/plain-text.ts';
import { isSpoken } from './guesses/input-names.ts';
import { ownColumns } from './result-columns.ts';
import { isGpu } from '../options/facts/gpu.ts';
import type { InputType } from '../service-client/contract/deployment.ts';
import type { LikelyColumns } from './guesses/guess.ts';
import { missingInputs, unknownInputs } from './header-faults.ts';
import type { DeclaredInputs, Feed, Giver } from './input-sources.ts';
import { type CellKind, asChoice, KEEP, kindOf, notAllowed, readText, takesFiles } from './parse-cell.ts';
import { inputNamed, inputsFor, nearestInput, textAround } from './named-inputs.ts';
import { wrongGpu } from './gpu-names.ts';
import { dividersOf } from './shared-cells.ts';
import { type Column, nameFault } from './sheet-record.ts';
import { checkLadder, predictsSize } from './size-classes.ts';

/** Throws E201 for `--gpu` and `--ladder`, E206 and E602 for options that contradict the sheet, the deployment or each other. */
export function mapColumns(
  file: string,
  columns: readonly Column[],
  options: SheetOptions,
  declared: readonly InputType[] | undefined,
  likely: LikelyColumns = {},
) {
  const inputTypes =
    declared &&
    inputsFor(
      declared,
      options,
      columns.map(({ name }) => name),
    );
  const declaredTypes: DeclaredInputs = inputTypes && new Map(inputTypes.map((type) => [type.name, type]));
  const gpu = options.gpu;
  if (gpu !== undefined && !isGpu(gpu)) throw wrongGpu(gpu, '--gpu');
  const { ladder } = options;
  checkLadder(options);
  const names = columns.map(({ name }) => name);
  for (const name of options.fillDown ?? []) indexOf(names, name, '--fill-down');
  if (options.unquoted !== undefined) indexOf(names, options.unquoted, '--unquoted');
  const { givers, ...roles } = rolesOf(names, options, inputTypes);
  for (const giver of givers) if (giver.asked) refuseGiver(giver, inputTypes);
  for (const input of Object.keys(options.types)) refuseType(input, givers);
  const feeds = givers.flatMap((giver) => feedOf(giver, options, declaredTypes, names));
  const problems = [
    ...missingInputs(file, columns, feeds, declaredTypes, likely),
    ...unknownInputs({ file, columns, givers, feeds, declared: declaredTypes, likely, options }),
  ];
  return {
    file,
    columns,
    /** In the order of the sheet, then of `--set`. */
    feeds,
    dividers: dividersOf(feeds),
    /** The GPU of rows that name none. */
    gpu,
    /** The GPUs that these rows climb instead. */
    ladder,
    /** With a ladder: the inputs that predict what a run needs. */
    sizedBy:
      ladder === undefined
        ? []
        : feeds
            .filter(({ input }) => predictsSize(input))
            .map(({ input, type }) => type?.fields?.[0] ?? input),
    /** Undefined if unknown. */
    decimalComma: options.decimalComma,
    /** Reads the text of a cell, and those of a row, without entities and marks if the options say so. */
    ...cellTextsFor(
      options,
      declared?.map(({ name }) => name),
    ),
    /** Words that mean that a cell is empty. */
    nothings: new Set(options.null?.filter((word) => word !== KEEP)),
    /** Errors of the header for this deployment (E203, E204). */
    problems,
    ...roles,
  };
}

type CellTexts = {
  readonly asText: (text: string) => string;
  readonly asCells: (cells: readonly unknown[]) => readonly unknown[];
};
const textsBy = (asText: CellTexts['asText']): CellTexts => ({
  asText,
  asCells: (cells) => cells.map((cell) => (typeof cell === 'string' ? asText(cell) : cell)),
});
const AS_WRITTEN: CellTexts = { asText: (text) => text, asCells: (cells) => cells };

/** Subtitles are read without their tags. */
function cellTextsFor({ tags, format, delimiter }: SheetOptions, inputs: readonly string[] | undefined) {
  if (tags === 'plain') return textsBy((text) => plainText(text, isSpoken(inputs)));
  const isTagless = tags === 'strip' || (tags === 'voices' && delimiter === 'none');
  return isTagless && format !== 'subtitles' ? textsBy(withSigns) : AS_WRITTEN;
}

export type ColumnMapping = ReturnType<typeof mapColumns>;

function refuseGiver({ input, by }: Giver, inputTypes: readonly InputType[] | undefined): void {
  const fault = nameFault(input);
  if (fault) throw problem('E602', { what: `${by}: ${fault}` });
  const type = inputTypes?.find(({ name }) => name === input);
  if (type?.ask?.isChoice === true)
    throw problem('E602', {
      what: `${by}: "${input}" may be ${list(type.fields ?? [])}, because ${type.ask.why}`,
      hint: 'name the field that is meant, or each of them',
    });
  if (inputTypes === undefined || type !== undefined) return;
  throw problem('E602', {
    what: `${by}: the deployment has no input "${input}"`,
    hint: hintAmong(
      input,
      'inputs',
      inputTypes.map(({ name }) => name),
      { near: nearestInput(input, inputTypes) },
    ),
  });
}

function refuseType(input: string, givers: readonly Giver[]): void {
  const inputs = givers.map((giver) => giver.input);
  if (inputs.includes(input)) return;
  throw problem('E602', {
    what: `--type ${input}: no column or flag provides the input "${input}"`,
    hint: hintAmong(input, 'inputs', inputs),
  });
}

/** No feed if the deployment lacks the input, or if `--set` leaves it empty. */
function feedOf(
  giver: Giver,
  options: SheetOptions,
  declaredTypes: DeclaredInputs,
  names: readonly string[],
): readonly Feed[] {
  const { input, from } = giver;
  const type = declaredTypes?.get(input);
  if (declaredTypes && !type) return [];
  const declared = Object.hasOwn(options.types, input) ? options.types[input] : undefined;
  const kind = declared ?? (type ? kindOf(type.type) : 'auto');
  const isGiven = declared !== undefined;
  if ('column' in from) return [{ input, kind, isGiven, type, from }];
  // Braces belong to the JSON.
  const template =
    kind === 'json' ? [from.set] : templateIn(from.set, giver.by, names, options.optionalParts);
  const isFilled = columnsIn(template).length > 0;
  if (isFilled || (template.length > 0 && takesFiles(kind)))
    return [{ input, kind, isGiven, type, from: { template } }];
  const text = templateText(template, String);
  return text === ''
    ? []
    : [{ input, kind, isGiven, type, from: { json: constantOf(giver.by, text, kind, type) } }];
}

/** The sent value of an option. Throws E602. The value of --set may also occur elsewhere in a command. */
export function constantOf(by: string, text: string, kind: CellKind, type: InputType | undefined): string {
  const reading = readText(text, kind);
  if (typeof reading !== 'string')
    throw problem('E602', {
      what: `${by}: the value is not ${reading.type}`,
      hint: reading.hint ?? 'correct it',
    });
  const chosen = type ? asChoice(reading, type) : reading;
  const not = type && notAllowed(chosen, type);
  if (not === undefined) return chosen;
  const meant = not.near === undefined ? '' : `did you mean ${not.near}? `;
  throw problem(
    'E602',
    { what: `${by}: the value ${not.what}`, hint: `${meant}allowed: ${list(not.allowed, ' ')}` },
    { correction: by.startsWith('--set') ? undefined : correctionOf(text, not.near) },
  );
}

/**
 * `inputTypes` are those of the deployment, if known. Throws E206 if an option names a column that is not in the sheet, E602
 * if one input would have two sources.
 */
function rolesOf(
  names: readonly string[],
  options: SheetOptions,
  inputTypes: readonly InputType[] | undefined,
) {
  const inputOf = (name: string): string | undefined => inputTypes && inputNamed(inputTypes, name)?.name;
  refuseAbsent(names, options);
  const mapped = mappedIn(names, options);
  const spokenFor = new Set(options.drop.map((name) => indexOf(names, name, '--drop')));
  for (const { input, from } of mapped) {
    spokenFor.add(from.column);
    const object = objectOf(names, from.column, options);
    if (object !== undefined && (inputOf(object) ?? object) === input) spokenFor.add(names.indexOf(object));
  }
  const templated = namesInTemplates(options.set, names);
  for (const name of templated) if (inputOf(name) === undefined) spokenFor.add(names.indexOf(name));
  const gpuColumn = gpuColumnOf(names, options, spokenFor, inputOf('gpu') !== undefined);
  const keyColumn = options.keyColumn === undefined ? undefined : indexOf(names, options.keyColumn, '--key');
  const own = ownColumns(names).length;
  const givesItsOwn = (column: number, name: string): boolean =>
    column < own &&
    !spokenFor.has(column) &&
    column !== gpuColumn &&
    (column !== keyColumn || inputOf(name) !== undefined);
  const givers = names.flatMap((name, column): Giver[] =>
    givesItsOwn(column, name)
      ? [{ input: inputOf(name) ?? name, by: `column "${name}"`, from: { column }, asked: false }]
      : mapped.filter(({ from }) => from.column === column),
  );
  const giving = new Set(givers.map(({ from }) => ('column' in from ? from.column : undefined)));
  return {
    /** In the order of the sheet, then of `--set`; every input once. */
    givers: eachInputOnce([...givers, ...constantsIn(options)], inputTypes ?? []),
    gpuColumn,
    keyColumn,
    /** Columns without a role. */
    unused: names.filter(
      (name, at) => !giving.has(at) && at !== gpuColumn && at !== keyColumn && !templated.has(name),
    ),
  };
}

/** The column of JSON whose part another column is: `voice` of `voice.name`. */
function objectOf(names: readonly string[], part: number, { format }: SheetOptions): string | undefined {
  const object = names[part]?.replace(/\.[^.]*$/, '');
  return isJson(format) && object !== names[part] ? names.find((name) => name === object) : undefined;
}

type Mapped = Giver & { readonly from: { readonly column: number } };

function mappedIn(names: readonly string[], options: SheetOptions): Mapped[] {
  return Object.entries(options.map).map(([input, name]) => {
    const by = `--map ${input}=${name}`;
    const { column, part } = { column: name, part: undefined, ...partNamed(name, names) };
    const from = { column: indexOf(names, column, by), ...(part !== undefined && { part }) };
    return { input, by, from, asked: true };
  });
}

function constantsIn(options: SheetOptions): Giver[] {
  return Object.entries(options.set).map(([input, text]) => {
    return { input, by: `--set ${input}=${text}`, from: { set: text }, asked: true };
  });
}

function gpuColumnOf(
  names: readonly string[],
  options: SheetOptions,
  spokenFor: ReadonlySet<number>,
  isInput: boolean,
): number | undefined {
  if (options.gpuColumn !== undefined) return indexOf(names, options.gpuColumn, '--gpu-column');
  const column = names.indexOf('gpu');
  return column < 0 || spokenFor.has(column) || isInput ? undefined : column;
}

/** Throws E206 for all columns at once, if several are not in the sheet. */
function refuseAbsent(names: readonly string[], { map, drop, gpuColumn, keyColumn }: SheetOptions): void {
  const named = [
    ...Object.entries(map).flatMap(([input, column]) =>
      partNamed(column, names) === undefined ? [{ column, flag: `--map ${input}=${column}` }] : [],
    ),
    ...drop.map((column) => ({ column, flag: '--drop' })),
    ...(gpuColumn === undefined ? [] : [{ column: gpuColumn, flag: '--gpu-column' }]),
    ...(keyColumn === undefined ? [] : [{ column: keyColumn, flag: '--key' }]),
  ];
  const [first, ...more] = named.filter(({ column }) => !names.includes(column));
  if (first !== undefined && more.length > 0) throw problem('E206', { ...first, more, columns: names });
}

/** Throws E206. */
export function indexOf(names: readonly string[], name: string, flag: string): number {
  const index = names.indexOf(name);
  if (index >= 0) return index;
  const near = nearest(name, names);
  // The word that is wrong is `prompt=Promt` after --map.
  const input = /^--map (.*)$/s.exec(flag)?.[1]?.slice(0, -name.length) ?? '';
  throw problem(
    'E206',
    { column: name, flag, columns: names, near },
    { correction: correctionOf(input + name, near && input + near) },
  );
}

/** Throws E602 if two givers provide one input, or one of them a part of a text that another provides as a whole. */
function eachInputOnce(givers: readonly Giver[], inputTypes: readonly InputType[]): readonly Giver[] {
  const first = new Map<string, Giver>();
  for (const giver of givers) {
    const earlier = first.get(giver.input);
    if (earlier) throw twoGivers(earlier, giver, `both provide the input "${giver.input}"`);
    first.set(giver.input, giver);
  }
  for (const { name, fields = [] } of inputTypes) {
    const part = first.get(name);
    if (part === undefined || !fields.every((path) => path !== textAround(path))) continue;
    const whole = inputTypes.find((type) => type.fields?.includes(textAround(fields[0] ?? '')));
    const around = first.get(whole?.name ?? '');
    if (around !== undefined)
      throw twoGivers(part, around, `exclude each other: "${name}" is a part of "${around.input}"`);
  }
  return givers;
}

function twoGivers(a: Giver, b: Giver, why: string): RunsheetError {
  const what = `${a.by} and ${b.by} ${why}`;
  const own = [a, b].find(({ asked }) => !asked);
  if (own === undefined) return problem('E602', { what, hint: 'remove one of them' });
  const hint = `to ignore the column, add: --drop ${shellWord(own.input)}`;
  return problem('E602', { what, hint }, { correction: { add: [['--drop', own.input]] } });
}
