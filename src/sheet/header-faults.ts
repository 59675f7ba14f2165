// The faults of a header: required inputs without a column, and columns that no input takes, with the flags that mend them.

import { type Correction, nearest, problem, type RunsheetError } from '../errors/error.ts';
import { absentFile, type DeclaredInputs, type Feed, type Giver } from './input-sources.ts';
import type { LikelyColumns } from './guesses/guess.ts';
import { areOneSetting, numberedLike } from './guesses/input-names.ts';
import { keysIn } from './guesses/key-columns.ts';
import type { Column } from './sheet-record.ts';
import type { SheetOptions } from './sheet-source.ts';

type UnknownFacts = {
  readonly file: string;
  readonly columns: readonly Column[];
  readonly givers: readonly Giver[];
  readonly feeds: readonly Feed[];
  readonly declared: DeclaredInputs;
  readonly likely: LikelyColumns;
  readonly options: SheetOptions;
};

export function unknownInputs({
  file,
  columns,
  givers,
  feeds,
  declared,
  likely,
  options,
}: UnknownFacts): readonly RunsheetError[] {
  if (!declared) return [];
  const inputs = [...declared.keys()];
  const provided = new Set(givers.map(({ input }) => input));
  // The error of the missing input names its likely column.
  const open = Object.fromEntries(Object.entries(likely).filter(([input]) => !provided.has(input)));
  const meant = new Set(Object.values(open).flat());
  const [key] =
    options.keyColumn === undefined
      ? keysIn(
          columns.map(({ name }) => name),
          true,
        )
      : [];
  return givers.flatMap(({ input, from }) => {
    const column = 'column' in from && !declared.has(input) ? columns[from.column] : undefined;
    if (!column || meant.has(column.name)) return [];
    const { name: columnName, ...at } = column;
    const place = { file, ...at, columnName };
    const missing = inputs.filter((name) => !provided.has(name));
    const near = missing.find((name) => areOneSetting(input, name)) ?? nearest(input, missing);
    // Without any column of the deployment, it is the wrong sheet, and dropping all columns does not help.
    const isKey = columnName === key;
    const dropped: Correction | undefined =
      feeds.length > 0 || meant.size > 0 ? { add: [[isKey ? '--key' : '--drop', columnName]] } : undefined;
    const correction = near === undefined ? dropped : mapFlag(near, columnName);
    return [problem('E204', { column: input, inputs, near, isKey }, { place, correction })];
  });
}

const mapFlag = (input: string, column: string): Correction => ({ add: [['--map', `${input}=${column}`]] });

export function missingInputs(
  file: string,
  columns: readonly Column[],
  feeds: readonly Feed[],
  declared: DeclaredInputs,
  likely: LikelyColumns,
): readonly RunsheetError[] {
  const names = columns.map(({ name }) => name);
  const fed = new Set(feeds.map(({ input }) => input));
  const used = new Set(feeds.map(({ from }) => ('column' in from ? from.column : undefined)));
  const unused = names.filter((_, at) => !used.has(at));
  const line = columns[0]?.line;
  const place = line === undefined || line === 0 ? { file } : { file, line };
  const missing = [...(declared?.values() ?? [])].filter(({ name, required }) => required && !fed.has(name));
  const flags = missing.map(({ name }) => {
    const near = likely[name] ?? oneOfKind(nearest(name, unused), unused);
    return typeof near === 'string' ? (['--map', `${name}=${near}`] as const) : undefined;
  });
  const isMended = !flags.includes(undefined);
  return missing.map((type, at) => {
    const flag = flags[at];
    const correction = isMended && flag !== undefined ? { add: [flag] } : undefined;
    const choices = choicesFor(type.name, likely[type.name]);
    const facts = { input: type.name, columns: names, flag, choices, absent: absentFile(type) };
    return problem('E203', facts, { place, correction });
  });
}

/** Flags for each of these columns, and for all of them in a prompt: a text to speak is in one of them. */
function choicesFor(
  input: string,
  columns: LikelyColumns[string] = [],
): readonly (readonly [flag: string, value: string])[] {
  if (typeof columns === 'string') return [];
  const isJoined =
    columns.length > 1 &&
    areOneSetting(input, 'prompt') &&
    /prompt/i.test(input) &&
    columns.every((name) => !/[{}[\]]/.test(name));
  const joined = columns.map((name) => `{${name}}`).join(', ');
  return [
    ...columns.map((name) => ['--map', `${input}=${name}`] as const),
    ...(isJoined ? [['--set', `${input}=${joined}`] as const] : []),
  ];
}

/** The name, unless others differ from it only by a number: none of them alone is meant. */
const oneOfKind = (name: string | undefined, names: readonly string[]): string | undefined =>
  name === undefined || numberedLike(name, names).length > 0 ? undefined : name;
