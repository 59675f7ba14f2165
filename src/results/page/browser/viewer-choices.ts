// The viewer's choices: picked, rejected, one to five stars. They stay in this browser, under the batch's birth mark.

import { csvCell } from './text.ts';

export type RowPick = { mark?: 'picked' | 'rejected' | undefined; stars?: number | undefined };
export type PickChoice = 'picked' | 'rejected' | number;

export class Picks {
  /** The picks of each row, by its key. */
  #picks = new Map<string, RowPick>();
  readonly #name: string;

  constructor(mark: string) {
    this.#name = `runsheet-picks-${mark}`;
    ifStored(() => {
      this.#picks = new Map(Object.entries(JSON.parse(localStorage.getItem(this.#name) ?? '{}')));
    });
  }

  of(key: string): RowPick {
    return this.#picks.get(key) ?? {};
  }

  /** The same choice again takes it back. */
  toggle = (key: string, choice: PickChoice): void => {
    const before = this.of(key);
    const name = typeof choice === 'number' ? 'stars' : 'mark';
    const next = { ...before, [name]: before[name] === choice ? undefined : choice };
    if (next.mark || next.stars) this.#picks.set(key, next);
    else this.#picks.delete(key);
    ifStored(() => localStorage.setItem(this.#name, JSON.stringify(Object.fromEntries(this.#picks))));
  };

  /** Stars mean that a row is picked too, unless it was rejected. */
  isPicked = (key: string, wanted: string): boolean => {
    const { mark, stars = 0 } = this.of(key);
    if (wanted === 'rejected') return mark === 'rejected';
    if (wanted === 'picked') return mark === 'picked' || (stars > 0 && mark !== 'rejected');
    return stars >= Number(wanted) && mark !== 'rejected';
  };

  /** For sorting. */
  weight(key: string): number {
    const { mark, stars = 0 } = this.of(key);
    return stars + (mark === 'picked' ? 0.5 : 0) - (mark === 'rejected' ? 9 : 0);
  }

  /** How many rows are picked. */
  get size(): number {
    return [...this.#picks.keys()].filter((key) => this.isPicked(key, 'picked')).length;
  }

  /** picks.csv, as `run --from … --pick` takes it; the keys come in the order of the rows. */
  csv(keys: readonly string[]): string {
    const rows = keys.filter((key) => this.isPicked(key, 'picked'));
    return `key,stars\n${rows.map((key) => `${csvCell(key)},${this.of(key).stars ?? ''}\n`).join('')}`;
  }
}

function ifStored(use: () => void): void {
  try {
    use();
  } catch {
    // Without a store, the choice lasts as long as the page.
  }
}

/** The choice that a key of the keyboard makes. */
export const choiceOf = (key: string): PickChoice | undefined =>
  /^[1-5]$/.test(key) ? Number(key) : ({ p: 'picked', x: 'rejected' } as Record<string, PickChoice>)[key];

/** The badge of a card. */
export const pickText = ({ mark, stars = 0 }: RowPick): string =>
  mark === 'rejected' ? '✕' : '★'.repeat(stars) || (mark === 'picked' ? '✓' : '');
