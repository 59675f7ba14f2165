// Matches columns to inputs by name, by a typo or another name of the same setting, or by shared words.

import { list, nearest, problem, type RunsheetError } from '../../errors/error.ts';
import { oneOf } from '../../errors/sheet-codes.ts';
import type { InputType } from '../../service-client/contract/deployment.ts';
import { only } from '../named-inputs.ts';
import { isNumeric, kindOf } from '../parse-cell.ts';
import { dropped, type Guess, mapped, or, plainName, said, toConfirm } from './guess.ts';
import {
  areOneSetting,
  containsSynonym,
  containsWords,
  isDescriptive,
  isOtherWord,
  nameProper,
  namesAttribute,
} from './input-names.ts';
import { fits } from './sample.ts';

/** Number of wrong letters in a typo. */
const SLIP = 2;

type Matches = { readonly map: Record<string, string>; readonly guesses: readonly Guess[] };

/** Matches columns in three rounds: by name, by a typo or another name of the same setting, and by shared words. */
export function matchedIn(
  free: readonly string[],
  types: readonly InputType[],
  valuesOf: (name: string) => readonly string[],
): Matches {
  const matching = new ColumnMatches(free, types, valuesOf);
  for (const type of types) matching.byName(type);
  matching.bySetting();
  matching.byWords();
  return matching;
}

class ColumnMatches implements Matches {
  readonly map: Record<string, string> = {};
  readonly guesses: Guess[] = [];
  readonly #free: readonly string[];
  readonly #types: readonly InputType[];
  readonly #names: ReadonlySet<string>;
  readonly #valuesOf: (name: string) => readonly string[];

  constructor(
    free: readonly string[],
    types: readonly InputType[],
    valuesOf: (name: string) => readonly string[],
  ) {
    this.#free = free;
    this.#types = types;
    this.#names = new Set(types.map(({ name }) => name));
    this.#valuesOf = valuesOf;
  }

  /** Columns that no input has. */
  get #left(): readonly string[] {
    return this.#free.filter((name) => !this.#names.has(name) && !Object.values(this.map).includes(name));
  }

  /** Inputs that no column has. */
  get #open(): readonly InputType[] {
    return this.#types.filter(({ name }) => !Object.hasOwn(this.map, name) && !this.#free.includes(name));
  }

  byName(type: InputType): void {
    const { name: input } = type;
    const exact = this.#free.filter(
      (name) => plainName(name) === plainName(input) || only(this.#called(name)) === type,
    );
    const alike =
      exact.length > 0 ? exact : this.#free.filter((name) => nameProper(name) === nameProper(input));
    if (alike.length > 1) throw severalColumns(input, alike);
    const [column] = alike;
    if (column === undefined || column === input || this.#names.has(column)) return;
    this.map[input] = column;
    this.guesses.push(said('columns', `column "${column}" is the input ${input}`, mapped(input, column)));
  }

  #called(column: string): readonly InputType[] {
    return this.#names.has(column) ? [] : this.#types.filter((type) => isCalled(type, column));
  }

  bySetting(): void {
    for (const column of this.#left) {
      const values = this.#valuesOf(column);
      const slip = this.#open.find(
        (type) =>
          this.#left.filter((name) => isSlip(name, type.name)).length === 1 &&
          isSlip(column, type.name) &&
          fits(values, type) &&
          !this.#isAttribute(column, type),
      );
      const alias = only(this.#open.filter(({ name }) => areOneSetting(column, name)));
      const input = slip ?? (values.length > 0 ? alias : undefined);
      if (input !== undefined) this.#meant(input.name, column);
    }
  }

  byWords(): void {
    for (const type of this.#open) {
      const like = this.#left.filter(
        (name) =>
          isCalledLike(name, type) && fits(this.#valuesOf(name), type) && !this.#isAttribute(name, type),
      );
      const [column] = like;
      if (column === undefined) continue;
      if (like.length === 1) this.#meant(type.name, column);
      else this.guesses.push(resembling(like, type.name));
    }
  }

  /** Whether the column only names or measures the text that another column has. */
  #isAttribute(column: string, type: InputType): boolean {
    if (!isDescriptive(type.name) || !namesAttribute(column)) return false;
    return this.#left.some((name) => !namesAttribute(name) && fits(this.#valuesOf(name), type));
  }

  #meant(input: string, column: string): void {
    this.map[input] = column;
    const text = `column "${column}" is the input ${input}, not data`;
    this.guesses.push(toConfirm('columns', text, mapped(input, column)));
  }
}

/** Whether a title of the input, or its only field, has this name. A title matches a nameless field only as a question. */
const isCalled = ({ also = [], fields = [], name }: InputType, column: string): boolean =>
  (fields.length === 1 && fields[0] === column) ||
  (!fields.includes(name) && also.some((title) => nameProper(title) === nameProper(column)));

const isCalledLike = (column: string, { name, type }: InputType): boolean =>
  containsWords(column, name) ||
  isSlip(column, name) ||
  (isNumeric(kindOf(type)) && containsSynonym(column, name));

function resembling(columns: readonly string[], input: string): Guess {
  const text = `the columns ${list(columns.map((name) => `"${name}"`))} resemble the input ${input} and are kept as data`;
  const sent = columns.map((column) => or('to send one', mapped(input, column)));
  return toConfirm('columns', text, dropped(...columns), ...sent);
}

/** E208, which proposes the first column. */
export function severalColumns(input: string, columns: readonly string[]): RunsheetError {
  return problem('E208', { input, columns }, { correction: { add: oneOf({ input, columns }) } });
}

/** Whether three of four letters match, and the first one: `weight` is no typo of `height`. */
function isSlip(column: string, input: string): boolean {
  const [wrong, right] = [nameProper(column), nameProper(input)];
  const quarter = Math.floor(Math.max(wrong.length, right.length) / 4);
  if (wrong[0] !== right[0] || isOtherWord(wrong, right)) return false;
  return isSwapped(wrong, right) || nearest(wrong, [right], Math.min(SLIP, quarter)) !== undefined;
}

/** Whether two adjacent letters are swapped: `stlye`. */
function isSwapped(wrong: string, right: string): boolean {
  const at = right.split('').findIndex((letter, index) => letter !== wrong[index]);
  const swapped = right.slice(0, at) + (right[at + 1] ?? '') + (right[at] ?? '') + right.slice(at + 2);
  return at > 0 && swapped === wrong;
}
