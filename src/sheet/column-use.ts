// The use of each column of a sheet: people see what becomes of all of them before money is spent, instead of trusting guesses.

import { definedOnly } from '../options/defined-only.ts';
import type { ColumnMapping } from './column-mapping.ts';
import type { OrderOptions } from './sending-order.ts';
import { ownColumns } from './result-columns.ts';
import { cellText, type SheetRecord, shortened } from './sheet-record.ts';
import type { SheetOptions } from './sheet-source.ts';
import { FilledCells, type FilledColumn } from './fill-down.ts';
import { columnsIn } from './templates.ts';
import { columnsNamedIn } from './where/where.ts';

export type ColumnUse = {
  readonly name: string;
  /** The first filled cell, shortened; undefined if every cell is empty. */
  readonly first?: string;
  /** Empty if nothing of the column is sent, and nothing depends on it. */
  readonly uses: readonly Use[];
  /** With --fill-down: its filled cells. */
  readonly filled?: FilledColumn;
};

export const USES = [
  'input',
  'template',
  'key',
  'gpu',
  'where',
  'order',
  'priority',
  'repeat',
  'output_name',
  'result',
] as const;

export type Use =
  | { readonly as: 'input' | 'template'; readonly input: string; readonly type: string }
  | { readonly as: 'key' | 'gpu' | 'where' | 'order' | 'priority' | 'repeat' | 'output_name' }
  /** A column that runsheet added to results, which are this sheet. */
  | { readonly as: 'result' };

export type ColumnOptions = SheetOptions & {
  readonly order?: OrderOptions | undefined;
  readonly outputName?: string | undefined;
};

/** Throws E550 for a condition that cannot be read. */
export function usesOf(plan: ColumnMapping, options: ColumnOptions): readonly (readonly Use[])[] {
  const names = plan.columns.map(({ name }) => name);
  const own = ownColumns(names).length;
  const roles = rolesByName(names, options);
  return names.map((name, at) => {
    const uses: readonly Use[] = [
      ...plan.feeds.flatMap(({ input, kind, from }): readonly Use[] => {
        if ('column' in from) return from.column === at ? [{ as: 'input', input, type: kind }] : [];
        return 'template' in from && columnsIn(from.template).includes(at)
          ? [{ as: 'template', input, type: kind }]
          : [];
      }),
      ...(at === plan.keyColumn ? [{ as: 'key' as const }] : []),
      ...(at === plan.gpuColumn ? [{ as: 'gpu' as const }] : []),
      ...(roles.get(name) ?? []),
    ];
    return uses.length === 0 && at >= own ? [{ as: 'result' }] : uses;
  });
}

function rolesByName(
  names: readonly string[],
  { where, repeat, order = {}, outputName = '' }: ColumnOptions,
): ReadonlyMap<string, readonly Use[]> {
  const roles = new Map<string, readonly Use[]>();
  const put = (name: string | undefined, as: 'where' | 'order' | 'priority' | 'repeat' | 'output_name') => {
    if (name !== undefined) roles.set(name, [...(roles.get(name) ?? []), { as }]);
  };
  for (const name of where === undefined ? [] : columnsNamedIn(where, names)) put(name, 'where');
  put(order.orderBy, 'order');
  put(order.priority, 'priority');
  if (typeof repeat?.by === 'string') put(repeat.by, 'repeat');
  for (const name of names) if (outputName.includes(`{${name}}`)) put(name, 'output_name');
  return roles;
}

/** Takes the first filled cell of each column; once all columns have one, a row costs nothing. */
export class FirstCells {
  readonly #first: (string | undefined)[];
  #empty: readonly number[];
  readonly #filled = new FilledCells();

  constructor({ columns }: Pick<ColumnMapping, 'columns'>) {
    this.#first = columns.map(() => undefined);
    this.#empty = [...columns.keys()];
  }

  take(record: SheetRecord): void {
    const { cells } = record;
    this.#filled.take(record);
    if (this.#empty.length === 0) return;
    this.#empty = this.#empty.filter((at) => {
      const text = cellText(cells[at]).trim();
      if (text !== '') this.#first[at] = shortened(text);
      return text === '';
    });
  }

  /** `uses` of each column, from {@link usesOf}. */
  with({ columns }: Pick<ColumnMapping, 'columns'>, uses: readonly (readonly Use[])[]): readonly ColumnUse[] {
    const names = columns.map(({ name }) => name);
    return names.map((name, at) => ({
      name,
      ...definedOnly({ first: this.#first[at], filled: this.#filled.in(at, names) }),
      uses: uses[at] ?? [],
    }));
  }
}
