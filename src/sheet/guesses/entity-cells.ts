// Asks about references of HTML in texts: `Fish &amp; chips`. A column with tags is HTML, and stays as it is.

import type { ColumnMapping } from '../column-mapping.ts';
import { list } from '../../errors/error.ts';
import type { SheetOptions, SheetSource } from '../sheet-source.ts';
import { columnsIn } from '../templates.ts';
import { lenientTextOf } from '../text/sheet-text.ts';
import { entitiesIn, isMarkup } from '../text/entities.ts';
import { type Guess, type GuessPart, NOTHING, or, said, toConfirm } from './guess.ts';

const MAX_SHOWN = 3;
const MEANING = 'read as the signs that they stand for';

/** Whether an entity may stand anywhere in the sheet. */
export async function hasEntities(source: SheetSource, options: SheetOptions): Promise<boolean> {
  for await (const text of lenientTextOf(source, options)) if (/&(?:#|[a-z])/i.test(text)) return true;
  return false;
}

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
  guess({ tags, delimiter }: SheetOptions, earlier: readonly Guess[]): GuessPart {
    const places = [...this.#entities.keys()];
    if (places.length === 0 || places.some((at) => this.#tagged.has(at))) return NOTHING;
    // The question about bullets and names of a list has asked for the tags.
    const isTagless = delimiter === 'none' && (tags === 'strip' || tags === 'voices');
    if (tags !== undefined && !isTagless) return NOTHING;
    const names = places.map((at) => `"${this.#names[at]}"`);
    const shown = [...new Set([...this.#entities.values()].flatMap((entities) => [...entities]))];
    const text = `entities such as ${list(shown.slice(0, MAX_SHOWN))} in ${list(names)} are`;
    if (earlier.some(({ options }) => options.tags !== undefined))
      return { options: {}, guesses: [said('values', `${text} sent as they stand`)] };
    if (isTagless) return { options: {}, guesses: [said('values', `${text} ${MEANING}`)] };
    const settled = { tags: 'strip' } as const;
    const asWritten = or('to send them', { tags: 'send' });
    const guess = toConfirm('values', `${text} ${MEANING}`, settled, asWritten);
    return { options: settled, guesses: [guess] };
  }
}
