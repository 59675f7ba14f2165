// Divides a cell between the two inputs that a column is mapped to: 1920x1080 and 16:9 are a width and a height, and
// "DPM++ 2M Karras" is a sampler and a scheduler.

import type { InputType } from '../service-client/contract/deployment.ts';
import { setsSetting } from './guesses/input-names.ts';
import { plainChoice } from './parse-cell.ts';
import { sizeOfRatio } from './trade/midjourney.ts';

export const PAIRS = [
  ['width', 'height'],
  ['sampler', 'scheduler'],
] as const;
export type InputPair = (typeof PAIRS)[number];

type DividedType = Pick<InputType, 'name' | 'options' | 'fields'>;

/** The two values of a cell, '' for one that the cell does not have; undefined for a cell that is not divided. */
export function partsIn(
  text: string,
  pair: InputPair,
  [first, second]: readonly [DividedType, DividedType],
): readonly [string, string] | undefined {
  return pair[0] === 'width'
    ? (sizeIn(text) ?? sizeOfShape(text))
    : choicesIn(text, first.options ?? [], second.options ?? []);
}

/** Sizes in pixels; 30x40 may be centimetres. */
const SIZE = /^(\d{3,5})\s*[x×*]\s*(\d{3,5})(?:\s*px)?$/i;

function sizeIn(text: string): readonly [string, string] | undefined {
  const [, width, height] = SIZE.exec(text.trim()) ?? [];
  return width === undefined || height === undefined ? undefined : [width, height];
}

/** The shape of a picture, none narrower than 1:4. Minutes mostly end in 0 or 5: 9:15 and 10:30 are times, as 9:05 is. */
const SHAPE = /^([1-9]|[1-3]\d):([1-9]|[1-3][1-46-9])$/;
const NARROWEST = 4;

function sizeOfShape(text: string): readonly [string, string] | undefined {
  const [, across = 0, down = 0] = SHAPE.exec(text.trim())?.map(Number) ?? [];
  const isWide = across > 0 && Math.max(across, down) <= NARROWEST * Math.min(across, down);
  return isWide ? sizeOfRatio(across, down) : undefined;
}

/** Looks like the shape of a picture. */
export const isShape = (text: string): boolean => sizeOfShape(text) !== undefined;

/** Looks like a size, whatever the column is called. */
export const isSize = (text: string): boolean => sizeIn(text) !== undefined;

function choicesIn(
  text: string,
  first: readonly string[],
  second: readonly string[],
): readonly [string, string] | undefined {
  const plain = plainChoice(text);
  if ([...first, ...second].includes(text)) return first.includes(text) ? [text, ''] : ['', text];
  const pairs = first.flatMap((option) => {
    if (!plain.startsWith(plainChoice(option))) return [];
    const end = plain.slice(plainChoice(option).length);
    const partner = end === '' ? '' : second.find((choice) => plainChoice(choice) === end);
    return partner === undefined ? [] : [[option, partner] as const];
  });
  return pairs.toSorted(([a], [b]) => b.length - a.length)[0];
}

/** The input of one of these names, also as the field of a node: `5.width`. */
export const typeOf = <Type extends DividedType>(name: string, types: readonly Type[]): Type | undefined =>
  types.find((type) => setsSetting(type.name, name));

type Fed = {
  readonly input: string;
  readonly type: DividedType | undefined;
  readonly from: { readonly column: number } | object;
};

/** How inputs divide the cells of a column that they share; the others take whole cells. */
export type Dividers<Feed> = ReadonlyMap<Feed, (text: string) => string>;

export function dividersOf<Feed extends Fed>(feeds: readonly Feed[]): Dividers<Feed> {
  const dividers = new Map<Feed, (text: string) => string>();
  for (const sharing of Map.groupBy(feeds, ({ from }) => ('column' in from ? from.column : -1)).values()) {
    if (sharing.length < 2 || !sharing.every(({ from }) => 'column' in from)) continue;
    const named = sharing.map((feed) => ({ ...feed.type, name: feed.input, feed }));
    for (const pair of PAIRS) {
      const [first, second] = [typeOf(pair[0], named), typeOf(pair[1], named)];
      if (first === undefined || second === undefined) continue;
      for (const [at, { feed }] of [first, second].entries())
        dividers.set(feed, (text) => partsIn(text, pair, [first, second])?.[at] ?? text);
    }
  }
  return dividers;
}
