// What the viewer chose: picked, rejected, one to five stars. It stays in this browser, under the batch's birth mark.

import { csvCell } from './text.js';

/** @typedef {{ mark?: 'picked' | 'rejected' | undefined, stars?: number | undefined }} Pick */
/** @typedef {'picked' | 'rejected' | number} Choice */

export class Picks {
  /** @type {Map<string, Pick>} by key */
  #picks = new Map();
  #name;

  /** @param {string} mark */
  constructor(mark) {
    this.#name = `runsheet-picks-${mark}`;
    ifStored(() => {
      this.#picks = new Map(Object.entries(JSON.parse(localStorage.getItem(this.#name) ?? '{}')));
    });
  }

  /** @param {string} key @returns {Pick} */
  of(key) {
    return this.#picks.get(key) ?? {};
  }

  /** The same choice again takes it back. @type {(key: string, choice: Choice) => void} */
  toggle = (key, choice) => {
    const known = this.of(key);
    const name = typeof choice === 'number' ? 'stars' : 'mark';
    const next = { ...known, [name]: known[name] === choice ? undefined : choice };
    if (next.mark || next.stars) this.#picks.set(key, next);
    else this.#picks.delete(key);
    ifStored(() => localStorage.setItem(this.#name, JSON.stringify(Object.fromEntries(this.#picks))));
  };

  /** Stars mean that a row is picked too, unless it was rejected. @type {(key: string, wanted: string) => boolean} */
  isPicked = (key, wanted) => {
    const { mark, stars = 0 } = this.of(key);
    if (wanted === 'rejected') return mark === 'rejected';
    if (wanted === 'picked') return mark === 'picked' || (stars > 0 && mark !== 'rejected');
    return stars >= Number(wanted) && mark !== 'rejected';
  };

  /** For sorting. @param {string} key */
  weight(key) {
    const { mark, stars = 0 } = this.of(key);
    return stars + (mark === 'picked' ? 0.5 : 0) - (mark === 'rejected' ? 9 : 0);
  }

  /** How many rows are picked. */
  get size() {
    return [...this.#picks.keys()].filter((key) => this.isPicked(key, 'picked')).length;
  }

  /** picks.csv, as `run --from … --pick` takes it. @param {readonly string[]} keys in the order of the rows */
  csv(keys) {
    const rows = keys.filter((key) => this.isPicked(key, 'picked'));
    return `key,stars\n${rows.map((key) => `${csvCell(key)},${this.of(key).stars ?? ''}\n`).join('')}`;
  }
}

/** @param {() => void} use */
function ifStored(use) {
  try {
    use();
  } catch {
    // Without a store, the choice lasts as long as the page.
  }
}

/** What a key chooses. @type {(key: string) => Choice | undefined} */
export const choiceOf = (key) =>
  /^[1-5]$/.test(key)
    ? Number(key)
    : /** @type {Record<string, Choice>} */ ({ p: 'picked', x: 'rejected' })[key];

/** What a card shows of it. @param {Pick} pick */
export const pickText = ({ mark, stars = 0 }) =>
  mark === 'rejected' ? '✕' : '★'.repeat(stars) || (mark === 'picked' ? '✓' : '');
