// Finds columns that may say which rows are to run: marks, yes or no, or a state. Each answer leaves some rows out, and says how
// many run.

import { list } from '../../errors/error.ts';
import { plural } from '../../options/number-text.ts';
import { isYes, isYesOrNo, YES_MARK } from '../parse-cell.ts';
import { cellText, type SheetRecord } from '../sheet-record.ts';
import { conditionOf, conditionWord } from '../where/condition-word.ts';
import { type Alternative, dropped, type Guess, or, toConfirm } from './guess.ts';
import { asksState } from './input-names.ts';

const MAX_STATES = 6;
const MAX_STATE = 20;
/** Longer texts are no states, even in a column whose name asks for one. */
const MAX_TEXT = 60;

/** The cells of one state, however people write it: `x` and `X`. */
type CellState = { readonly spellings: Set<string>; rows: number };

type StateColumn = {
  readonly name: string;
  readonly at: number;
  blank: number;
  states: Map<string, CellState>;
};

export class StateColumns {
  #columns: readonly StateColumn[];
  #rows = 0;

  /** `watched`: columns that nothing else uses, with their places. */
  constructor(watched: ReadonlyMap<string, number>) {
    this.#columns = [...watched].map(([name, at]) => ({ name, at, blank: 0, states: new Map() }));
  }

  take({ cells }: SheetRecord): void {
    this.#rows += 1;
    for (const column of this.#columns) {
      const text = cellText(cells[column.at]);
      const word = text.trim().toLowerCase();
      if (word === '') column.blank += 1;
      else if (column.states.size <= MAX_STATES || column.states.has(word)) putState(column, word, text);
    }
    this.#columns = this.#columns.filter(({ name, states }) => states.size <= MAX_STATES || asksState(name));
  }

  /** `taken`: columns that turned out to be something else. */
  guesses(taken: ReadonlySet<string | undefined>): readonly Guess[] {
    return this.#columns
      .filter((column) => !taken.has(column.name) && areStates(column))
      .map((column) => this.#question(column));
  }

  #question(column: StateColumn): Guess {
    const { name, blank, states } = column;
    const words = [...states.values()].map(({ spellings }) => JSON.stringify([...spellings][0]));
    const isFew = states.size <= MAX_STATES;
    const values = [...(isFew ? words : [...words.slice(0, 2), '…']), ...(blank > 0 ? ['empty'] : [])];
    const text = `all rows run, whatever column "${name}" says (${list(values)})`;
    return toConfirm('rows', text, dropped(name), ...(isFew ? this.#choices(column) : this.#filled(column)));
  }

  /** Rows without a state, and rows with it. Where there are many states, rows that are marked in any way are left out together. */
  #choices({ name, blank, states }: StateColumn): readonly Alternative[] {
    const listed = [...states.values()];
    if (listed.length === 1 && blank === 0) return [];
    const only = listed.map((state) => this.#choice(conditionFor(name, '=', state), state.rows));
    if (listed.length === 2 && blank === 0) return only;
    const marked = [...states].filter(([word]) => isYes(word)).map(([, state]) => state);
    const left = listed.length > 2 && marked.length > 1 ? [together(marked)] : listed;
    const without = left.map((state) =>
      this.#choice(conditionFor(name, '!=', state), this.#rows - state.rows),
    );
    return [...without, ...only];
  }

  /** Many values leave one choice: whether a cell has a value. */
  #filled({ name, blank }: StateColumn): readonly Alternative[] {
    if (blank === 0) return [];
    return [
      this.#choice(conditionOf(name, '=', ''), blank),
      this.#choice(conditionOf(name, '!=', ''), this.#rows - blank),
    ];
  }

  #choice(where: string, rows: number): Alternative {
    return or(`to run ${rows} of ${plural(this.#rows, 'row')}`, { where });
  }
}

const together = (states: readonly CellState[]): CellState => ({
  spellings: new Set(states.flatMap(({ spellings }) => [...spellings])),
  rows: states.reduce((sum, { rows }) => sum + rows, 0),
});

function putState({ states }: StateColumn, word: string, text: string): void {
  const state = states.get(word) ?? { spellings: new Set(), rows: 0 };
  states.set(word, state);
  state.spellings.add(text);
  state.rows += 1;
}

/** A condition on all spellings: quotes keep a text such as 1 from being compared as a number. */
function conditionFor(column: string, compare: '=' | '!=', { spellings }: CellState): string {
  const [text = '', ...more] = spellings;
  if (more.length === 0) return conditionOf(column, compare, text);
  const values = [...spellings].map((spelling) => `"${spelling.replaceAll('"', '""')}"`).join(', ');
  return `${conditionWord(column)} ${compare === '=' ? 'in' : 'not in'} (${values})`;
}

/**
 * A column whose name asks for a state has states. Others have few short ones, which are mostly yes, no or marks, or are one
 * word in some rows and nothing in others.
 */
function areStates({ name, blank, states }: StateColumn): boolean {
  const entries = [...states];
  if (entries.length === 0) return false;
  if (asksState(name))
    return entries.every(([word]) => word.length <= MAX_TEXT) && (entries.length <= MAX_STATES || blank > 0);
  if (entries.length > MAX_STATES || entries.some(([word]) => word.length > MAX_STATE)) return false;
  const filled = entries.reduce((sum, [, { rows }]) => sum + rows, 0);
  // 0 and 1 may also count rows.
  if (entries.every(([word]) => /^\d$/.test(word)) && blank === 0 && filled < 2 * Math.max(2, entries.length))
    return false;
  const said = entries.filter(([word]) => isYesOrNo(word) || (blank > 0 && YES_MARK.test(word)));
  const isSaid = 2 * said.reduce((sum, [, { rows }]) => sum + rows, 0) > filled;
  const isTelling = entries.length > 1 || blank > 0;
  return (isSaid && isTelling) || (entries.length === 1 && blank > 0 && filled > 1);
}
