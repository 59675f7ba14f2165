// Asks which part of an object or a list an input means: `voice.name` where the input takes a text, `images.0.src` where it takes a file.

import type { InputType } from '../../service-client/contract/deployment.ts';
import { list } from '../../errors/error.ts';
import { asChoice, isNumeric, kindOf, takesFiles } from '../parse-cell.ts';
import { isSize, typeOf } from '../shared-cells.ts';
import type { SheetOptions } from '../sheet-source.ts';
import { areIds } from './cell-forms.ts';
import { dropped, type Guess, mapped, or, plainName, toConfirm } from './guess.ts';
import { setsSetting } from './input-names.ts';
import { isCalled, mappedBy } from './open-columns.ts';
import { fits, listInput } from './sample.ts';

type ObjectFacts = {
  readonly columns: readonly string[];
  readonly inputTypes: readonly InputType[] | undefined;
  readonly options: SheetOptions;
  /** The options before any guess. */
  readonly userOptions: SheetOptions;
  readonly valuesOf: (column: string) => readonly string[];
};

/** The questions about inputs whose cells are objects or lists; each proposes a part with values that fit, and then the settings beside it. */
export function objectParts(facts: ObjectFacts): readonly Guess[] {
  const parts = partsOfInputs(facts);
  const map = { ...facts.options.map, ...mappedBy(parts) };
  return [...parts, ...settingsBeside({ ...facts, options: { ...facts.options, map } })];
}

/**
 * Asks about inputs that are parts of an object by name, when another part of that object is sent: whether they are sent, too, and whether
 * they are sent instead of a column with other values, if the object has the text.
 */
function settingsBeside(facts: ObjectFacts): readonly Guess[] {
  const { columns, inputTypes = [], options, userOptions, valuesOf } = facts;
  const { map, drop } = options;
  const open = inputTypes.filter(
    ({ name }) => ![userOptions.map, userOptions.set].some((settled) => Object.hasOwn(settled, name)),
  );
  const columnOf = ({ name }: InputType): string | undefined =>
    map[name] ?? columns.find((column) => isCalled(column, name) && !drop.includes(column));
  const hasText = (object: string): boolean =>
    map[listInput(inputTypes) ?? '']?.startsWith(`${object}.`) === true;
  const objects = columns.filter(
    (name) => !drop.includes(name) && Object.values(map).some((path) => path.startsWith(`${name}.`)),
  );
  return objects.flatMap((object): readonly Guess[] => {
    const values = valuesOf(object);
    const parts = settingParts(object, open, values, drop).map(([type, path]): SettingPart => {
      const column = columnOf(type);
      return { type, path, column, values: valuesIn(values, path.slice(object.length + 1)) };
    });
    const beside = parts.filter(({ column }) => column === undefined);
    const [fit, unfit] = [beside.filter((part) => !isRefused(part)), beside.filter(isRefused)];
    const rival = parts.filter(
      ({ column, path }) => column !== undefined && column !== path && !column.startsWith(`${object}.`),
    );
    const differs = rival.some(
      ({ type, column = '', values: own }) =>
        !areIn(
          own.map((text) => sideOf(text, type)),
          valuesOf(column),
        ),
    );
    return [
      ...(fit.length === 0 ? [] : [sentBeside(object, fit)]),
      ...unfit.map(refusedPart),
      ...(differs && hasText(object) ? [rivals(object, rival)] : []),
    ];
  });
}

/** Whether a column has these values in this order, and values of further rows between them. */
function areIn(values: readonly string[], column: readonly string[]): boolean {
  let next = 0;
  for (const text of column) if (text === values[next]) next += 1;
  return next === values.length;
}

/** The width or the height of a size. */
const sideOf = (text: string, { name }: InputType): string =>
  isSize(text) ? (text.match(/\d+/g)?.[setsSetting(name, 'height') ? 1 : 0] ?? text) : text;

/** `column`: another source of the input. */
type SettingPart = {
  readonly type: InputType;
  readonly path: string;
  readonly column: string | undefined;
  readonly values: readonly string[];
};

/** The parts that are called as inputs, and a size as a width and a height. */
function settingParts(
  object: string,
  inputTypes: readonly InputType[],
  values: readonly string[],
  drop: readonly string[],
): readonly (readonly [InputType, string])[] {
  const named = inputTypes.flatMap((type): readonly (readonly [InputType, string])[] => {
    const paths = pathsIn(object, type, values).filter((path) => !drop.includes(path));
    const path = paths.find((part) => isCalled(part.slice(object.length + 1), type.name));
    return path === undefined ? [] : [[type, path]];
  });
  const sizes = ['width', 'height'].flatMap((name) => typeOf(name, inputTypes) ?? []);
  if (sizes.length < 2 || named.some(([type]) => sizes.includes(type))) return named;
  const size = partsNamed(values).find(
    (name) => !drop.includes(`${object}.${name}`) && valuesIn(values, name).every(isSize),
  );
  return size === undefined
    ? named
    : [...named, ...sizes.map((type) => [type, `${object}.${size}`] as const)];
}

const partsNamed = (values: readonly string[]): readonly string[] => [
  ...new Set(values.flatMap((text) => partsIn(nestedIn(text) ?? {}, 1).map(([name]) => name))),
];

const valuesIn = (values: readonly string[], name: string): readonly string[] =>
  values.flatMap((text) =>
    partsIn(nestedIn(text) ?? {}, 1).flatMap(([path, value]) => (path === name ? [value] : [])),
  );

const refusedValue = ({ type, values }: SettingPart): string | undefined =>
  type.options?.length === 0
    ? undefined
    : values.find(
        (text) =>
          type.options
            ?.map((option) => JSON.stringify(option))
            .includes(asChoice(JSON.stringify(text), type)) === false,
      );

const isRefused = (part: SettingPart): boolean => refusedValue(part) !== undefined;

const mapOf = (parts: readonly SettingPart[]): Readonly<Record<string, string>> =>
  Object.fromEntries(parts.map(({ type, path }) => [type.name, path]));

function sentBeside(object: string, parts: readonly SettingPart[]): Guess {
  const texts = parts.map(({ type, path }) => `${path} (${type.name})`);
  const text = `"${object}" has settings beside it, which are sent too: ${list(texts)}`;
  return toConfirm('columns', text, { map: mapOf(parts) }, or('to leave them out', dropped(object)));
}

/** A part with values that the input refuses. */
function refusedPart(part: SettingPart): Guess {
  const { type, path } = part;
  const value = refusedValue(part) ?? '';
  const text = `"${path}" is not sent: ${JSON.stringify(value)} is no value of the input ${type.name} (${list(type.options ?? [], ' ')})`;
  return toConfirm(
    'columns',
    text,
    dropped(path),
    or('to send it, and correct such values', mapped(type.name, path)),
  );
}

/** Columns of inputs for which the object with the text has other values: the size of a picture beside the one that was asked for. */
function rivals(object: string, parts: readonly SettingPart[]): Guess {
  const texts = parts.map(({ path, column = '', values }) => `${path} ${values[0]} (column "${column}")`);
  const columns = parts.flatMap(({ column = [] }) => column);
  const text = `"${object}" has settings of its own, which are sent instead of columns: ${list(texts)}`;
  const own = Object.fromEntries(parts.map(({ type, column = '' }) => [type.name, column]));
  return toConfirm(
    'columns',
    text,
    { map: mapOf(parts), drop: columns },
    or('to send the columns', { map: own }),
  );
}

function partsOfInputs({ columns, inputTypes = [], options, valuesOf }: ObjectFacts): readonly Guess[] {
  const isNoInput = (name: string): boolean =>
    !inputTypes.some((type) => plainName(type.name) === plainName(name));
  return inputTypes
    .filter(({ name, type }) => takesPart(type) && !Object.hasOwn(options.set, name))
    .flatMap((type): readonly Guess[] => {
      const isOwnName = (name: string): boolean =>
        plainName(name) === plainName(type.name) && !options.drop.includes(name);
      const named = options.map[type.name] ?? columns.find(isOwnName);
      const within = named !== undefined ? [named] : type.required ? columns.filter(isNoInput) : [];
      const isFile = takesFiles(kindOf(type.type));
      const isPlain = (name: string): boolean =>
        fits(valuesOf(name), type) && !valuesOf(name).every((text) => nestedIn(text) !== undefined);
      if (isFile && within.some(isPlain)) return [];
      const [paths, ...furtherPaths] = within
        .map((name) =>
          pathsIn(name, type, valuesOf(name), isFile || named !== undefined).filter(
            (path) => !options.drop.includes(path),
          ),
        )
        .filter((parts) => parts.length > 0);
      if (furtherPaths.length > 0) return [];
      return paths === undefined
        ? unsendable(named, type, valuesOf)
        : [partOf(paths, within, type, valuesOf)];
    });
}

/** Proposes the first of the paths. */
function partOf(
  [path = '', ...otherPaths]: readonly string[],
  within: readonly string[],
  { name: input }: InputType,
  valuesOf: ObjectFacts['valuesOf'],
): Guess {
  const object = within.find((name) => path.startsWith(`${name}.`)) ?? '';
  const is = kindOfNested(valuesOf(object));
  const text = `"${object}" is ${is}; the input ${input} gets ${is === 'a list' ? 'the first: ' : ''}${path}`;
  const instead = otherPaths
    .slice(0, MAX_OTHERS)
    .map((part) => or('to send another part', mapped(input, part)));
  return toConfirm('columns', text, mapped(input, path), ...instead);
}

/** Proposes to leave out a column without a part that fits. A required input without a value is refused. */
function unsendable(
  column: string | undefined,
  { name, type, required }: InputType,
  valuesOf: ObjectFacts['valuesOf'],
): readonly Guess[] {
  const values = column === undefined ? [] : valuesOf(column);
  if (column === undefined || required || values.length === 0) return [];
  const nested = values.map(nestedIn);
  // A list of plain values may be one for each row.
  const areObjects = nested.every(
    (value) => value !== undefined && (!Array.isArray(value) || value.every((part) => isNested(part))),
  );
  if (!areObjects) return [];
  const text = `"${column}" is ${kindOfNested(values)} without a part for the input ${name} (${type}), and is not sent`;
  return [toConfirm('columns', text, dropped(column))];
}

/** Answers with another part. */
const MAX_OTHERS = 4;

/** A file in a list of files is a file already. */
const takesPart = (type: string): boolean => kindOf(type) !== 'json' && kindOf(type) !== 'files';

const kindOfNested = (values: readonly string[]): 'a list' | 'an object' =>
  values.some((text) => text.startsWith('[')) ? 'a list' : 'an object';

/** The paths of the parts that fit the input: one with its name, then texts that no program gives, then the others. */
function pathsIn(
  column: string,
  type: InputType,
  values: readonly string[],
  withLists = false,
): readonly string[] {
  const nested = values.map(nestedIn);
  const isUnread = (value: Nested | undefined): boolean =>
    value === undefined || (Array.isArray(value) && !withLists);
  if (nested.length === 0 || nested.some(isUnread)) return [];
  const depth = withLists ? MAX_DEPTH : 1;
  const parts = nested.flatMap((value) => (value === undefined ? [] : partsIn(value, depth)));
  const valuesOfParts = Map.groupBy(parts, ([path]) => path);
  const valuesAt = (path: string): readonly string[] =>
    valuesOfParts.get(path)?.map(([, value]) => value) ?? [];
  const isOwnName = (path: string): boolean =>
    plainName(path.slice(path.lastIndexOf('.') + 1)) === plainName(type.name);
  const rankOf = (path: string): number => (isOwnName(path) ? 0 : areIds(valuesAt(path)) ? 2 : 1);
  // A number in a list of objects may be anything.
  const isMeant = (path: string): boolean =>
    !isNumeric(kindOf(type.type)) || !/^\d/.test(path) || isOwnName(path);
  return [...valuesOfParts.keys()]
    .filter((path) => isMeant(path) && fits(valuesAt(path), type))
    .toSorted((a, b) => rankOf(a) - rankOf(b))
    .map((path) => `${column}.${path}`);
}

type Nested = Readonly<Record<string, unknown>> | readonly unknown[];

const MAX_DEPTH = 3;

const isNested = (value: unknown): value is Nested => typeof value === 'object' && value !== null;

/** The texts and numbers in a value with their paths; those of a list are in its first element. */
function partsIn(value: Nested, depth: number): readonly (readonly [path: string, text: string])[] {
  const members = Object.entries(value).slice(0, Array.isArray(value) ? 1 : undefined);
  return members.flatMap(([name, part]) => {
    if (name.includes('.')) return [];
    if (typeof part === 'string' || typeof part === 'number') return [[name, String(part)] as const];
    if (!isNested(part) || depth <= 1) return [];
    return partsIn(part, depth - 1).map(([path, text]) => [`${name}.${path}`, text] as const);
  });
}

function nestedIn(text: string): Nested | undefined {
  if (!/^[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Nested;
  } catch {
    return undefined;
  }
}
