// Assigns a role to every column: an input, the GPU, the key, or none. Uses only the header and the options.

import { correctionOf, nearest, problem, type RunsheetError } from '../errors/error.ts';
import { shellWord } from '../errors/outside-text.ts';
import type { SheetOptions } from './sheet-options.ts';
import { ownColumns } from './result-columns.ts';

/** The source of an input: a column (by its index) or the text of `--set`; `by` names it in messages. */
export type Giver = {
  readonly input: string;
  readonly by: string;
  readonly from: { readonly column: number } | { readonly set: string };
  /** True if an option names it; a column provides the input of its own name without an option. */
  readonly asked: boolean;
};

export type Roles = {
  /** In the order of the sheet, then of `--set`; every input once. */
  readonly givers: readonly Giver[];
  readonly gpuColumn: number | undefined;
  readonly keyColumn: number | undefined;
  /** Columns without a role. */
  readonly unused: readonly string[];
};

/**
 * `inputs` are those of the deployment, if known. Throws E206 if an option names a column that is not in the sheet, E602
 * if one input would have two sources.
 */
export function rolesOf(
  names: readonly string[],
  options: SheetOptions,
  inputs: ReadonlySet<string> | undefined,
): Roles {
  const mapped = mappedIn(names, options);
  const spokenFor = new Set(options.drop.map((name) => indexOf(names, name, '--drop')));
  for (const { from } of mapped) spokenFor.add(from.column);
  const gpuColumn = gpuColumnOf(names, options, spokenFor, inputs);
  const keyColumn = options.keyColumn === undefined ? undefined : indexOf(names, options.keyColumn, '--key');
  const own = ownColumns(names).length;
  const givesItsOwn = (column: number, name: string): boolean =>
    column < own &&
    !spokenFor.has(column) &&
    column !== gpuColumn &&
    (column !== keyColumn || inputs?.has(name) === true);
  const givers = names.flatMap((name, column): Giver[] =>
    givesItsOwn(column, name)
      ? [{ input: name, by: `column "${name}"`, from: { column }, asked: false }]
      : mapped.filter(({ from }) => from.column === column),
  );
  const giving = new Set(givers.map(({ from }) => ('column' in from ? from.column : undefined)));
  const unused = names.filter((_, at) => !giving.has(at) && at !== gpuColumn && at !== keyColumn);
  return { givers: eachInputOnce([...givers, ...constantsIn(options)]), gpuColumn, keyColumn, unused };
}

type Mapped = Giver & { readonly from: { readonly column: number } };

function mappedIn(names: readonly string[], options: SheetOptions): Mapped[] {
  return Object.entries(options.map).map(([input, name]) => {
    const by = `--map ${input}=${name}`;
    return { input, by, from: { column: indexOf(names, name, by) }, asked: true };
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
  inputs: ReadonlySet<string> | undefined,
): number | undefined {
  if (options.gpuColumn !== undefined) return indexOf(names, options.gpuColumn, '--gpu-column');
  const column = names.indexOf('gpu');
  return column < 0 || spokenFor.has(column) || inputs?.has('gpu') ? undefined : column;
}

function indexOf(names: readonly string[], name: string, flag: string): number {
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

function eachInputOnce(givers: readonly Giver[]): readonly Giver[] {
  const first = new Map<string, Giver>();
  for (const giver of givers) {
    const other = first.get(giver.input);
    if (other) throw twoGivers(other, giver);
    first.set(giver.input, giver);
  }
  return givers;
}

function twoGivers(one: Giver, other: Giver): RunsheetError {
  const what = `${one.by} and ${other.by} both provide the input "${one.input}"`;
  const own = [one, other].find(({ asked }) => !asked);
  if (own === undefined) return problem('E602', { what, hint: 'remove one of them' });
  const hint = `to ignore the column, add: --drop ${shellWord(own.input)}`;
  return problem('E602', { what, hint }, { correction: { add: [['--drop', own.input]] } });
}
