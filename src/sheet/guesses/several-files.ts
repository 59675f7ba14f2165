// Asks about cells that name several files for an input that takes one: the first is the picture of the product in the exports of shops.

import type { ColumnMapping } from '../column-mapping.ts';
import { fileCell, severalFiles } from '../input-files.ts';
import { valuesIn } from '../grid/expanded-rows.ts';
import type { SheetOptions } from '../sheet-source.ts';
import { type GuessPart, mapped, NOTHING, or, toConfirm } from './guess.ts';

/** `rows` have files, `several` of them more than one. */
type ListedFiles = {
  readonly at: number;
  readonly input: string;
  rows: number;
  several: number;
  files: number;
};

export class SeveralFiles {
  readonly #columns: readonly ListedFiles[];

  constructor({ feeds }: Pick<ColumnMapping, 'feeds'>) {
    this.#columns = feeds.flatMap(({ input, kind, from }) =>
      kind === 'file' && 'column' in from && from.part === undefined
        ? [{ at: from.column, input, rows: 0, several: 0, files: 0 }]
        : [],
    );
  }

  take(cells: readonly string[]): void {
    for (const column of this.#columns) {
      const text = cells[column.at]?.trim() ?? '';
      if (text === '') continue;
      const files = namesSeveral(text) ? valuesIn(text, false).length : 1;
      column.rows += 1;
      column.files += files;
      if (files > 1) column.several += 1;
    }
  }

  /** Proposes the first of each cell. */
  guess({ columns }: Pick<ColumnMapping, 'columns'>, { map, split = [] }: SheetOptions): GuessPart {
    const listed = this.#columns.filter(({ several }) => several > 0);
    if (listed.length === 0) return NOTHING;
    const nameAt = (at: number): string => columns[at]?.name ?? '';
    const maps = listed.map(({ input, at }) => mapped(input, `${nameAt(at)}.0`));
    return {
      options: { map: Object.assign({}, map, ...maps.map((options) => options.map)) as SheetOptions['map'] },
      guesses: listed.map(({ at, input, rows, several, files }, nth) => {
        const name = nameAt(at);
        const text = `"${name}" names several files in ${several} of ${rows} rows, and ${input} takes one: the first of each row is sent, ${rows} runs`;
        const ofEach = or(`to run each of the ${files} files`, { split: [...split, name] });
        return toConfirm('columns', text, maps[nth], ofEach);
      }),
    };
  }
}

const LISTED = /[,;|\n]|\s\S+:\/\//;

function namesSeveral(text: string): boolean {
  if (!LISTED.test(text)) return false;
  const cell = fileCell(text);
  return 'isSeveral' in cell || ('path' in cell && severalFiles(cell.path) !== undefined);
}
