// Asks about sent cells that say that the value above comes again, such as `ditto`, which would be sent as a text.

import { isDitto } from '../ditto.ts';
import { list } from '../../errors/error.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import { KEEP } from '../parse-cell.ts';
import type { SheetOptions } from '../sheet-source.ts';
import { alsoMet, conditionAmong } from '../where/condition-word.ts';
import { type Guess, or, toConfirm } from './guess.ts';

const MAX_SHOWN = 5;

type DittoColumn = { count: number; empty: number; readonly words: Set<string> };

export class DittoCells {
  /** Column → the number of such cells, their spellings, and its empty cells. */
  readonly #columns = new Map<string, DittoColumn>();

  take(text: string, name: string): void {
    const isEmpty = text.trim() === '';
    if (!isEmpty && !isDitto(text)) return;
    const ditto = this.#columns.get(name) ?? { count: 0, empty: 0, words: new Set() };
    this.#columns.set(name, ditto);
    ditto[isEmpty ? 'empty' : 'count'] += 1;
    if (!isEmpty) ditto.words.add(text);
  }

  /** Column → the question about it. */
  guesses({ fillDown = [], where, null: nothings = [] }: SheetOptions): ReadonlyMap<string, Guess> {
    if (nothings.includes(KEEP)) return new Map();
    const open = [...this.#columns].filter(([name, { count }]) => count > 0 && !fillDown.includes(name));
    return new Map(open.map(([name, column]) => [name, dittoGuess(name, column, where)]));
  }
}

function dittoGuess(name: string, { count, empty, words }: DittoColumn, where: string | undefined): Guess {
  const texts = [...words];
  const says = count === 1 ? '1 cell says' : `${count} cells say`;
  const also = empty > 0 ? `; ${plural(empty, 'empty cell')} ${empty === 1 ? 'stays' : 'stay'} empty` : '';
  const shown = list(texts.slice(0, MAX_SHOWN).map((word) => JSON.stringify(word)));
  const text = `in "${name}", ${says} that the value above comes again (${shown}), which is taken${also}`;
  const among = alsoMet(where, conditionAmong(name, '!=', texts));
  const without = or(count === 1 ? 'to leave its row out' : 'to leave their rows out', { where: among });
  const sent = or('to send all cells as they stand', { null: [KEEP] });
  return toConfirm('rows', text, { fillDown: [name] }, without, sent);
}
