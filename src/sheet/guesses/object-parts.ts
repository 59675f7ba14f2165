// Asks which part of an object an input means: `voice.name` of rows whose `voice` is an object, where the input takes a text.

import type { InputType } from '../../service-client/contract/deployment.ts';
import { list } from '../../errors/error.ts';
import { kindOf, takesFiles } from '../parse-cell.ts';
import type { SheetOptions } from '../sheet-source.ts';
import { areIds } from './cell-forms.ts';
import { dropped, type Guess, mapped, or, plainName, toConfirm } from './guess.ts';
import { areOneSetting, nameProper } from './input-names.ts';
import { mappedBy } from './open-columns.ts';
import { fits } from './sample.ts';

type ObjectFacts = {
  readonly columns: readonly string[];
  readonly inputTypes: readonly InputType[] | undefined;
  readonly options: SheetOptions;
  readonly valuesOf: (column: string) => readonly string[];
};

/** The questions about inputs whose cells are objects; each proposes a part with values that fit, and then the settings beside it. */
export function objectParts(facts: ObjectFacts): readonly Guess[] {
  const parts = partsOfInputs(facts);
  const map = { ...facts.options.map, ...mappedBy(parts) };
  return [...parts, ...settingsBeside({ ...facts, options: { ...facts.options, map } })];
}

/** Asks about inputs without a column that are parts of an object by name, when another part of that object is sent. */
function settingsBeside({ columns, inputTypes = [], options, valuesOf }: ObjectFacts): readonly Guess[] {
  const { map, set, drop } = options;
  const isCalled = (name: string, input: string): boolean =>
    nameProper(name) === nameProper(input) || areOneSetting(name, input);
  const unfed = inputTypes.filter(
    ({ name }) =>
      !Object.hasOwn(map, name) &&
      !Object.hasOwn(set, name) &&
      !columns.some((column) => isCalled(column, name)),
  );
  const objects = columns.filter(
    (name) => !drop.includes(name) && Object.values(map).some((path) => path.startsWith(`${name}.`)),
  );
  return objects.flatMap((object): readonly Guess[] => {
    const beside = unfed.flatMap((type): readonly (readonly [string, string])[] => {
      const path = pathsIn(object, type, valuesOf(object)).find((part) =>
        isCalled(part.slice(object.length + 1), type.name),
      );
      return path === undefined ? [] : [[type.name, path]];
    });
    if (beside.length === 0) return [];
    const texts = beside.map(([input, path]) => `${path} (${input})`);
    const text = `"${object}" has settings beside it, which are sent too: ${list(texts)}`;
    const without = or('to leave them out', dropped(object));
    return [toConfirm('columns', text, { map: Object.fromEntries(beside) }, without)];
  });
}

function partsOfInputs({ columns, inputTypes = [], options, valuesOf }: ObjectFacts): readonly Guess[] {
  const isNoInput = (name: string): boolean =>
    !inputTypes.some((type) => plainName(type.name) === plainName(name));
  return inputTypes
    .filter(({ name, type }) => takesPart(type) && !Object.hasOwn(options.set, name))
    .flatMap((type): readonly Guess[] => {
      const column =
        options.map[type.name] ?? columns.find((name) => plainName(name) === plainName(type.name));
      const within = column !== undefined ? [column] : type.required ? columns.filter(isNoInput) : [];
      const [paths, ...furtherPaths] = within
        .map((name) => pathsIn(name, type, valuesOf(name)))
        .filter((parts) => parts.length > 0);
      const [path, ...otherPaths] = paths ?? [];
      if (path === undefined || furtherPaths.length > 0) return [];
      const object = within.find((name) => path.startsWith(`${name}.`));
      const text = `"${object}" is an object, of which the input ${type.name} gets ${path}`;
      const instead = otherPaths.map((part) => or('to send another part', mapped(type.name, part)));
      return [toConfirm('columns', text, mapped(type.name, path), ...instead)];
    });
}

const takesPart = (type: string): boolean => kindOf(type) !== 'json' && !takesFiles(kindOf(type));

/** The paths of the parts that fit the input: one with its name, then texts that no program gives, then the others. */
function pathsIn(column: string, type: InputType, values: readonly string[]): readonly string[] {
  const objects = values.map(objectOf);
  if (objects.length === 0 || objects.some((object) => object === undefined)) return [];
  const members = [...new Set(objects.flatMap((object) => Object.keys(object ?? {})))];
  const valuesIn = (member: string): readonly string[] =>
    objects.flatMap((object) => {
      const value = object?.[member];
      return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
    });
  const rankOf = (member: string): number =>
    plainName(member) === plainName(type.name) ? 0 : areIds(valuesIn(member)) ? 2 : 1;
  return members
    .filter((member) => !member.includes('.') && fits(valuesIn(member), type))
    .toSorted((a, b) => rankOf(a) - rankOf(b))
    .map((member) => `${column}.${member}`);
}

function objectOf(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
