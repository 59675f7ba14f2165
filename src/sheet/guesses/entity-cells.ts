// Asks about references of HTML in the texts of a table: `Fish &amp; chips`. A column with tags is HTML, and stays as it is.

import type { ColumnMapping } from '../column-mapping.ts';
import { list } from '../../errors/error.ts';
import type { SheetOptions } from '../sheet-source.ts';
import { columnsIn } from '../templates.ts';
import { entitiesIn, isMarkup } from '../text/entities.ts';
import { type Guess, type GuessPart, NOTHING, or, said, toConfirm } from './guess.ts';

const MAX_SHOWN = 3;

export class EntityCells {
  readonly #columns: readonly number[];
  readonly #names: readonly string[];
  readonly #entities = new Map<number, Set<string>>();
  readonly #tagged = new Set<number>();

  constructor({ feeds, columns }: ColumnMapping) {
    this.#names = columns.map(({ name }) => name);
    const sent = feeds.flatMap(({ kind, from }) => {
      if (kind !== 'string' && kind !== 'auto') return [];
      return 'column' in from ? [from.column] : 'template' in from ? columnsIn(from.template) : [];
    });
    this.#columns = [...new Set(sent)];
  }

  take(cells: readonly string[]): void {
    for (const at of this.#columns) {
      const text = cells[at] ?? '';
      if (!/[&<]/.test(text)) continue;
      if (isMarkup(text)) {
        this.#tagged.add(at);
        continue;
      }
      for (const entity of entitiesIn(text))
        this.#entities.set(at, (this.#entities.get(at) ?? new Set()).add(entity));
    }
  }

  /** `earlier`: questions that may have the same options for another answer. */
  guess({ tags }: SheetOptions, earlier: readonly Guess[]): GuessPart {
    const places = [...this.#entities.keys()];
    if (tags !== undefined || places.length === 0 || places.some((at) => this.#tagged.has(at)))
      return NOTHING;
    const names = places.map((at) => `"${this.#names[at]}"`);
    const shown = [...new Set([...this.#entities.values()].flatMap((entities) => [...entities]))];
    const text = `entities such as ${list(shown.slice(0, MAX_SHOWN))} in ${list(names)} are`;
    if (earlier.some(({ options }) => options.tags !== undefined))
      return { options: {}, guesses: [said('values', `${text} sent as they stand`)] };
    const settled = { tags: 'strip' } as const;
    const asWritten = or('to send them', { tags: 'send' });
    const guess = toConfirm('values', `${text} read as the signs that they stand for`, settled, asWritten);
    return { options: settled, guesses: [guess] };
  }
}
