// Finds inputs by name. Inputs of a ComfyUI workflow also have titles, and fields named NODE.FIELD.

import { nearest, problem } from '../errors/error.ts';
import type { InputType } from '../service-client/contract/deployment.ts';
import { areOneSetting, isSetting } from './guesses/input-names.ts';
import type { SheetOptions } from './sheet-source.ts';

type InputTypes = readonly InputType[];

/** The inputs that a column or a flag may name without a question. */
export const certainInputs = (inputTypes: InputTypes): InputTypes => inputTypes.filter(({ ask }) => !ask);

/** The input with this name, with this unique title, or with this single field; undefined if there is none. */
export function inputNamed(inputTypes: InputTypes, name: string): InputType | undefined {
  const certain = certainInputs(inputTypes);
  const own =
    certain.find((type) => type.name === name) ?? only(certain.filter(({ also }) => also?.includes(name)));
  if (own !== undefined) return own;
  const input = only(certain.filter(({ fields = [] }) => fields.includes(name)));
  if (input === undefined) return undefined;
  return input.fields?.length === 1 ? input : fieldOf(input, name);
}

/** The only element; undefined if there are none or several. */
export const only = <T>(items: readonly T[]): T | undefined => (items.length === 1 ? items[0] : undefined);

/** An input reduced to a single field of the several that it fills. */
function fieldOf(input: InputType, path: string): InputType {
  const { also: _, ...declared } = input;
  return { ...declared, name: path, fields: [path] };
}

/** The name of the input that was probably meant. */
export function nearestInput(wrong: string, inputTypes: InputTypes): string | undefined {
  const names = new Map(
    certainInputs(inputTypes).flatMap(({ name, fields = [], also = [] }) =>
      [name, ...fields, ...also].map((alias) => [alias, name]),
    ),
  );
  // A seed is no slip of speed.
  const near = isSetting(wrong)
    ? [...names.keys()].find((name) => areOneSetting(name, wrong))
    : nearest(wrong, [...names.keys()]);
  return names.get(wrong) ?? names.get(near ?? '');
}

type NamedOptions = Pick<SheetOptions, 'map' | 'set' | 'types'>;

/** The options with the deployment's own names of inputs. Throws E602 if two of them are one input. */
export function withInputNames<Options extends NamedOptions>(
  options: Options,
  inputTypes: InputTypes | undefined,
): Options {
  if (inputTypes === undefined) return options;
  const renamed = <V>(flag: string, values: Readonly<Record<string, V>>): Record<string, V> => {
    const names = Object.keys(values).map((name) => inputNamed(inputTypes, name)?.name ?? name);
    const twice = names.find((name, at) => names.indexOf(name) < at);
    if (twice !== undefined)
      throw problem('E602', {
        what: `two of --${flag} provide the input "${twice}"`,
        hint: 'remove one of them',
      });
    return Object.fromEntries(Object.values(values).map((value, at) => [names[at], value]));
  };
  const { map, set, types } = options;
  return { ...options, map: renamed('map', map), set: renamed('set', set), types: renamed('type', types) };
}

type Naming = NamedOptions & Pick<SheetOptions, 'grid' | 'drop'>;

/** How a part of a text begins and ends. */
const MARKS = [
  ['{{', '}}'],
  ['%', '%'],
  ['__', '__'],
] as const;

/** The field with the text that a marked part stands in, `6.text` of `6.text{{subject}}`; any other field itself. */
export function textAround(path: string): string {
  for (const [begin, end] of MARKS) {
    const at = path.indexOf(begin);
    if (at > 0 && path.endsWith(end) && at + begin.length < path.length - end.length)
      return path.slice(0, at);
  }
  return path;
}

/**
 * The inputs as these options and columns name them: a field named alone leaves the input that fills it
 * with others, and an ambiguous name keeps only the readings that nothing else names. A single remaining
 * reading is meant.
 */
export function inputsFor(
  inputTypes: InputTypes,
  { map, set, types, drop, grid = {} }: Naming,
  columns: readonly string[] = [],
): InputTypes {
  const elsewhere = new Set([...drop, ...Object.values(map)]);
  const isPath = (name: string): boolean =>
    !elsewhere.has(name) && inputTypes.some(({ fields }) => fields?.includes(name));
  const names = [map, set, types, grid].flatMap((named) => Object.keys(named));
  const named = [...new Set([...names, ...columns.filter(isPath)])].flatMap(
    (name) => inputNamed(inputTypes, name) ?? [],
  );
  const apart = new Map(
    named.flatMap((input) => (inputTypes.includes(input) ? [] : [[input.name, input] as const])),
  );
  const left = inputTypes.flatMap((input) => {
    const { ask, fields = [], ...declared } = input;
    if (ask === undefined && fields.length < 2) return [input];
    const taken = new Set(
      named.flatMap((candidate) => (candidate.name === input.name ? [] : (candidate.fields ?? []))),
    );
    const open = fields.filter((path) => !taken.has(path) && !taken.has(textAround(path)));
    if (open.length === fields.length) return [input];
    if (open.length === 0) return [];
    return [{ ...declared, fields: open, ...(ask !== undefined && open.length > 1 && { ask }) }];
  });
  return [...left, ...apart.values()];
}

/** An input of a sheet, with the fields that it fills and its other names, if the deployment is a workflow. */
export type SheetInput = {
  readonly input: string;
  readonly fields?: readonly string[];
  readonly also?: readonly string[];
};
type InputValues = Readonly<Record<string, unknown>>;

/** The inputs under the names with which the batch was made. */
export function withSheetNames(inputTypes: InputTypes, inputs: readonly SheetInput[]): InputTypes {
  const kept = inputs.flatMap(({ input, fields: [field = '', ...more] = [] }) => {
    const type = inputTypes.find(({ fields = [] }) => fields.includes(field));
    return type === undefined ? [] : [{ ...fieldOf(type, input), fields: [field, ...more] }];
  });
  const names = new Set(kept.map(({ name }) => name));
  const taken = new Set(kept.flatMap(({ fields }) => fields ?? []));
  const unkept = inputTypes.flatMap((type) => {
    if (names.has(type.name)) return [];
    if (type.fields === undefined) return [type];
    const fields = type.fields.filter((path) => !taken.has(path));
    return fields.length === 0 ? [] : [{ ...type, fields }];
  });
  return [...kept, ...unkept];
}

/** Converts a row's values from fields to the names of its sheet. */
export function byNames(values: InputValues, inputs: readonly SheetInput[]): InputValues {
  const named = inputs.filter(({ fields = [] }) => fields.some((field) => field in values));
  if (named.length === 0) return values;
  const fields = new Set(named.flatMap((input) => input.fields ?? []));
  const unnamed = Object.entries(values).filter(([name]) => !fields.has(name));
  const own = named.map(({ input, fields: [field = ''] = [] }) => [input, values[field]] as const);
  return Object.fromEntries([...own, ...unnamed]);
}

/** Converts values to fields, also for batches made when rows named inputs, which several of today's inputs may share. */
export function byFields(values: InputValues, inputs: readonly SheetInput[]): InputValues {
  if (inputs.every(({ fields }) => fields === undefined)) return values;
  const members = Object.entries(values).flatMap(([name, value]) => {
    const own = inputs.filter(({ input }) => input === name);
    const meant = own.length > 0 ? own : inputs.filter(({ also }) => also?.includes(name));
    const fields = meant.length > 0 ? meant.flatMap((sheetInput) => sheetInput.fields ?? [name]) : [name];
    return fields.map((field) => [field, value] as const);
  });
  return Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
