// Finds columns whose cells have the values of two inputs: a size such as 1920x1080, or a sampler with its scheduler.

import type { InputType } from '../../service-client/contract/deployment.ts';
import { type InputPair, isShape, partsIn, PAIRS, typeOf } from '../shared-cells.ts';
import { shortened } from '../sheet-record.ts';
import { dropped, type Guess, or, toConfirm } from './guess.ts';

export type SharedColumnFacts = {
  /** Columns that no input has. */
  readonly left: readonly string[];
  /** Input → column, and columns that may have the name of an input. */
  readonly map: Readonly<Record<string, string>>;
  readonly fit: readonly string[];
  readonly certain: readonly InputType[];
  /** Inputs without a column. */
  readonly unfed: readonly InputType[];
  readonly valuesOf: (column: string) => readonly string[];
};

/** Asks to send a column to two inputs. A column of one of them may have values of the other, too. */
export function sharedColumns(facts: SharedColumnFacts): readonly Guess[] {
  const { left, map, fit, certain, unfed, valuesOf } = facts;
  return PAIRS.flatMap((pair) => {
    const second = typeOf(pair[1], unfed);
    const first = typeOf(pair[0], certain);
    if (first === undefined || second === undefined) return [];
    const own = map[first.name] ?? (fit.includes(first.name) ? first.name : undefined);
    if (own === undefined && typeOf(pair[0], unfed) === undefined) return [];
    const types = [first, second] as const;
    const column = (
      own === undefined ? left.filter((name) => !areChoices(valuesOf(name), unfed)) : [own]
    ).find((name) =>
      own === undefined
        ? valuesOf(name).length > 0 && valuesOf(name).every((text) => isBoth(text, pair, types))
        : valuesOf(name).some((text) => isBoth(text, pair, types)),
    );
    if (column !== undefined) return [question(column, pair, types, valuesOf(column))];
    if (own !== undefined) return [];
    return left
      .filter((name) => valuesOf(name).some((text) => isBoth(text, pair, types) && !isShape(text)))
      .flatMap((name) => odd(name, pair, types, valuesOf(name)));
  });
}

/** A column in which some cells are of both inputs, and some of neither. */
function odd(column: string, pair: InputPair, types: PairTypes, values: readonly string[]): readonly Guess[] {
  const other = values.find((text) => !isBoth(text, pair, types));
  if (other === undefined) return [];
  const inputs = types.map(({ name }) => name);
  const text = `column "${column}" is not sent: ${JSON.stringify(shortened(other))} is no ${inputs.join(' and ')}`;
  const map = Object.fromEntries(inputs.map((name) => [name, column]));
  return [toConfirm('columns', text, dropped(column), or('to send it, and correct such cells', { map }))];
}

/** Whether one input has all of the values: 16:9 is an aspect ratio before it is a width and a height. */
const areChoices = (values: readonly string[], types: readonly InputType[]): boolean =>
  types.some(({ options }) => options !== undefined && values.every((text) => options.includes(text)));

type PairTypes = readonly [InputType, InputType];

const isBoth = (text: string, pair: InputPair, types: PairTypes): boolean => {
  const parts = partsIn(text, pair, types);
  return parts !== undefined && !parts.includes('');
};

function question(column: string, pair: InputPair, types: PairTypes, values: readonly string[]): Guess {
  const value = values.find((text) => isBoth(text, pair, types)) ?? '';
  const parts = partsIn(value, pair, types) ?? ['', ''];
  const words = types.map(({ name }, at) => `${name} ${parts[at]}`).join(' and ');
  const map = Object.fromEntries(types.map(({ name }) => [name, column]));
  const without = or(`to leave column "${column}" out`, dropped(column));
  return toConfirm('columns', `column "${column}" has two inputs: ${value} is ${words}`, { map }, without);
}
