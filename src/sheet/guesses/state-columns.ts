// Finds columns that may say which rows are to run: marks, yes or no, two short words of any language, or a state. Each answer leaves
// some rows out, and says how many run.

import { list } from '../../errors/error.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import { YES_MARK } from '../parse-cell.ts';
import { cellText, type SheetRecord } from '../sheet-record.ts';
import { alsoMet, conditionAmong } from '../where/condition-word.ts';
import { A_DAY, isRecorded, stateIn } from './cell-forms.ts';
import { type Alternative, dropped, type Guess, or, toConfirm } from './guess.ts';
import { areOneSetting, wordsOf } from './input-names.ts';
import {
  asksChoice,
  asksState,
  isQuestion,
  isRemoval,
  isStateWord,
  isWish,
  saysYes,
  saysYesOrNo,
} from './state-words.ts';

const MAX_STATES = 6;
const MAX_STATE = 20;
/** Spellings of all states that the answers list. */
const MAX_WORDS = 24;
const MAX_COMMANDS = 4;
/** Access writes yes as -1. */
const FLAG = /^-?[01]$/;
/** Longer texts are no states, even in a column whose name asks for one. */
const MAX_TEXT = 60;

/** Columns without a use in a sheet that is no export; in exports, many columns have two words. */
const MAX_UNUSED = 6;

/** The cells of one state, however people write it, and on whatever day: `x` and `X`, `sent 2 May` and `sent 3 May`. */
type CellState = { readonly spellings: Set<string>; rows: number };

/** A condition that some rows meet. */
type Choice = {
  readonly compare: '=' | '!=';
  readonly state: CellState;
  readonly rows: number;
  readonly where: string;
};

type StateColumn = {
  readonly name: string;
  readonly at: number;
  blank: number;
  states: Map<string, CellState>;
  /** Columns that are empty in the same rows so far. */
  like: readonly number[];
};

export class StateColumns {
  #columns: readonly StateColumn[];
  readonly #isSmall: boolean;
  /** First words of names, with the number of columns that have them. */
  readonly #families: ReadonlyMap<string | undefined, number>;
  #rows = 0;
  #where: string | undefined;

  /** `watched`: columns that nothing else uses, with their places. `titles`: columns that rows may lack which continue the row above. */
  constructor(watched: ReadonlyMap<string, number>, titles: readonly number[] = []) {
    this.#isSmall = watched.size <= MAX_UNUSED;
    const families = Map.groupBy(watched.keys(), familyOf);
    this.#families = new Map([...families].map(([word, names]) => [word, names.length]));
    this.#columns = [...watched].map(([name, at]) => ({
      name,
      at,
      blank: 0,
      states: new Map(),
      like: titles.filter((title) => title !== at),
    }));
  }

  take({ cells }: SheetRecord): void {
    this.#rows += 1;
    for (const column of this.#columns) {
      const text = cellText(cells[column.at]);
      const word = text.trim().toLowerCase();
      if (column.like.length > 0)
        column.like = column.like.filter((at) => (cellText(cells[at]).trim() === '') === (word === ''));
      if (word === '') column.blank += 1;
      else {
        const said = stateIn(word);
        if (column.states.size <= MAX_STATES || column.states.has(said)) putState(column, said, text);
      }
    }
    this.#columns = this.#columns.filter(({ name, states }) => states.size <= MAX_STATES || asksState(name));
  }

  /** `taken`: columns that turned out to be something else. `where`: the condition that the rows meet. */
  guesses(taken: ReadonlySet<string | undefined>, where?: string): readonly Guess[] {
    this.#where = where;
    return this.#columns
      .filter((column) => !taken.has(column.name) && this.#areStates(column))
      .map((column) => this.#question(column));
  }

  /** The columns of states that the same rows lack as this column. */
  besides(title: number): readonly string[] {
    const beside = this.#columns.filter(({ blank, like }) => blank > 0 && like.includes(title));
    return beside.filter((column) => this.#areStates(column)).map(({ name }) => name);
  }

  /** Exports have a yes or no among the attributes of an article: `Variant Taxable` beside `Variant Grams` and `Variant Price`. */
  #areStates(column: StateColumn): boolean {
    const { name } = column;
    const family = familyOf(name);
    const isAttribute = family !== undefined && (this.#families.get(family) ?? 0) >= LEAST_FAMILY;
    return !(isAttribute && !this.#isSmall && !asksState(name)) && areStates(column, this.#isSmall);
  }

  #question(column: StateColumn): Guess {
    const { name, blank, states } = column;
    const words = [...states.values()].flatMap(({ spellings }) =>
      [...spellings].map((text) => JSON.stringify(text)),
    );
    const isDated = states.size === 1 && states.has(A_DAY);
    const isFew = states.size <= MAX_STATES && words.length <= MAX_WORDS && !isDated;
    const isShort = isFew || words.length <= 2;
    const values = [...(isShort ? words : [...words.slice(0, 2), '…']), ...(blank > 0 ? ['empty'] : [])];
    const text = `all rows run, whatever column "${name}" says (${list(values)})`;
    const above =
      blank > 0 && column.like.includes(0) ? [or('to take it from the row above', { fillDown: [name] })] : [];
    const choices = isFew ? this.#choices(column) : this.#filled(column);
    return { ...toConfirm('rows', text, dropped(name), ...choices, ...above), isChoice: true };
  }

  /** Rows without a state, and rows with it. Where there are many states, rows that are marked in any way are left out together. */
  #choices({ name, blank, states }: StateColumn): readonly Alternative[] {
    const isWished = isWish(name);
    // A yes runs first where the name wishes; an ok may say that all is well already.
    const rankOf = (word: string): number =>
      isWished && saysYes(word) ? (word.startsWith('ok') ? 1 : 0) : 2;
    const listed = [...states].toSorted(([a], [b]) => rankOf(a) - rankOf(b)).map(([, state]) => state);
    if (listed.length === 1 && blank === 0) return [];
    const only = listed.map((state) => this.#choice(name, '=', state));
    if (listed.length === 2 && blank === 0) return this.#asked(only);
    const statesThat = (is: (word: string) => boolean): readonly CellState[] =>
      [...states].filter(([word]) => is(word)).map(([, state]) => state);
    const removed = statesThat((word) => isRemoval(word, name));
    const marked = removed.length > 0 ? removed : statesThat(saysYes);
    const areTogether = removed.length > 0 || (listed.length > 2 && marked.length > 1);
    const left = (areTogether ? [together(marked)] : listed).map((state) => this.#choice(name, '!=', state));
    const isAffirmed = isWished && [...states.keys()].some(saysYes);
    return this.#asked(isAffirmed ? [...only, ...left] : [...left, ...only]);
  }

  /** Many values leave one choice: whether a cell has a value. */
  #filled({ name, blank }: StateColumn): readonly Alternative[] {
    if (blank === 0) return [];
    const nothing = { spellings: new Set(['']), rows: blank };
    return this.#asked([this.#choice(name, '=', nothing), this.#choice(name, '!=', nothing)]);
  }

  #choice(name: string, compare: '=' | '!=', state: CellState): Choice {
    const rows = compare === '=' ? state.rows : this.#rows - state.rows;
    return {
      compare,
      state,
      rows,
      where: alsoMet(this.#where, conditionAmong(name, compare, [...state.spellings])),
    };
  }

  /** The number of rows tells choices apart, except for opposites with the same number. */
  #asked(choices: readonly Choice[]): readonly Alternative[] {
    return choices.map(({ compare, state, rows, where }) => {
      const isUnclear = choices.some((choice) => choice.rows === rows && choice.compare !== compare);
      const runs = `${rows} of ${plural(this.#rows, 'row')}`;
      const words = list(
        [...state.spellings].map((text) => (text === '' ? 'empty cells' : JSON.stringify(text))),
      );
      const named =
        compare === '=' ? `to run the ${runs} with ${words}` : `to leave out ${words} and run ${runs}`;
      return or(isUnclear ? named : `to run ${runs}`, { where });
    });
  }
}

/** Columns whose names begin with one word are attributes of one thing. */
const LEAST_FAMILY = 3;

const familyOf = (name: string): string | undefined => {
  const [first, second] = wordsOf(name);
  return second === undefined ? undefined : first;
};

const together = (states: readonly CellState[]): CellState => ({
  spellings: new Set(states.flatMap(({ spellings }) => [...spellings])),
  rows: states.reduce((sum, { rows }) => sum + rows, 0),
});

function putState({ states }: StateColumn, word: string, text: string): void {
  const state = states.get(word) ?? { spellings: new Set(), rows: 0 };
  states.set(word, state);
  if (state.spellings.size <= MAX_WORDS) state.spellings.add(text);
  state.rows += 1;
}

/**
 * A column whose name asks for a state has states. Others have few short ones, which are mostly yes, no, marks or words for done and
 * open; beside few other columns, they may also be one word in some rows and nothing in others, or two short words.
 */
function areStates(column: StateColumn, isSmall: boolean): boolean {
  const { name, blank, states } = column;
  const entries = [...states];
  const isTelling = entries.length > 1 || blank > 0;
  if (entries.length === 0 || !isTelling || areOneSetting(name, 'voice')) return false;
  if (blank === 0 && entries.some(([word]) => isWritten(word))) return false;
  if (asksState(name))
    return entries.every(([word]) => word.length <= MAX_TEXT) && (entries.length <= MAX_STATES || blank > 0);
  if (entries.length > MAX_STATES || entries.some(([word]) => word.length > MAX_STATE)) return false;
  const isNear = isSmall || isQuestion(name);
  if (areRemovals(column)) return true;
  if (entries.every(([word]) => /^-?\d+$/.test(word))) return areFlags(column, isNear);
  return saysMostly(column, isNear) || (isNear && areWords(column));
}

const filledIn = ({ states }: StateColumn): number =>
  [...states.values()].reduce((sum, { rows }) => sum + rows, 0);

/** Numbers in an export, or that occur once each, count something, unless the name is a question. */
function areFlags(column: StateColumn, isNear: boolean): boolean {
  const { name, blank, states } = column;
  const isOnce = blank === 0 && filledIn(column) <= states.size && !asksChoice(name);
  return isNear && !isOnce && [...states.keys()].every((word) => FLAG.test(word));
}

function saysMostly(column: StateColumn, isNear: boolean): boolean {
  const said = [...column.states].filter(
    ([word]) =>
      saysYesOrNo(word) ||
      isStateWord(word) ||
      (isNear && FLAG.test(word)) ||
      (column.blank > 0 && (YES_MARK.test(word) || (isNear && word === A_DAY))),
  );
  return 2 * said.reduce((sum, [, { rows }]) => sum + rows, 0) > filledIn(column);
}

/** Whether the words divide the rows although none of them says how. Codes have digits. */
function areWords(column: StateColumn): boolean {
  const entries = [...column.states];
  const [first] = entries;
  const filled = filledIn(column);
  if (first === undefined || entries.some(([word]) => /\p{N}/u.test(word))) return false;
  const isOneWord = entries.length === 1 && column.blank > 0 && (filled > 1 || isRemark(first));
  const arePlain = isQuestion(column.name) ? areLowercase(entries) : arePair(entries);
  return isOneWord || areCommands(entries) || (filled > entries.length && arePlain);
}

type StateEntry = readonly [word: string, state: CellState];

/** Whether one cell alone may leave its row out: `gestrichen`, `cut`. */
const isRemark = ([word, { spellings }]: StateEntry): boolean =>
  /^\p{Ll}{3,}$/u.test(word) && spellings.has(word);

/** Few words in capitals, as programs exchange them: `MERGE`, `DELETE`. Codes of countries and currencies are shorter. */
const areCommands = (entries: readonly StateEntry[]): boolean =>
  entries.length > 1 &&
  entries.length <= MAX_COMMANDS &&
  entries.some(([word]) => word.length > 3) &&
  entries.every(([, { spellings }]) =>
    [...spellings].every((text) => /^\p{Lu}[\p{Lu}_ ]+\p{Lu}$/u.test(text.trim())),
  );

/** Few words, one of which removes what the row is about: `Add`, `Revise`, `End`. */
const areRemovals = ({ name, states }: StateColumn): boolean =>
  [...states.keys()].some((word) => isRemoval(word, name)) &&
  [...states.keys()].every((word) => /^\p{L}+(?:[ _]\p{L}+)?$/u.test(word));

/** Two answers to a question: `to do` and `have`. Those of forms begin with capitals. */
const areLowercase = (entries: readonly StateEntry[]): boolean =>
  entries.length === 2 &&
  entries.every(([, { spellings }]) => [...spellings].every((text) => /^\P{Lu}+$/u.test(text)));

/** Two words of few letters: ja and nein, oui and non, да and нет. Single letters are grades and sizes, and names have a capital. */
const arePair = (entries: readonly StateEntry[]): boolean =>
  entries.length === 2 &&
  entries.every(([word]) => /^\p{L}{1,4}$/u.test(word)) &&
  !entries.every(([, { spellings }]) => [...spellings].every((text) => /^\p{Lu}\p{Ll}/u.test(text.trim()))) &&
  !entries.every(([word]) => /^[a-z]$/.test(word));

/** Whether the text is a date or a number, which says no state unless it is missing in some rows. */
const isWritten = (word: string): boolean =>
  isRecorded(word) || (/^[-+]?[\d.,]+$/.test(word) && !FLAG.test(word));
