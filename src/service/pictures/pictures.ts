// The output pictures of runs: a mosaic that depends on the inputs, and below it the row number, the prompt and the seed, which
// a person can compare with the sheet. The same inputs always give the same bytes.
//
//      ┌──────────────────┐
//      │ mosaic, 3 of 5   │
//      ├──────────────────┤
//      │ #12         ▪▪▪▪ │
//      │ the prompt,      │
//      │ wrapped and cut  │
//      │ seed 1844…       │
//      └──────────────────┘

import { hash } from 'node:crypto';
import { isRawNumber } from '../../batch/digits.ts';
import { paintCaption, type Caption } from './caption.ts';
import { hashOf, numbersFrom } from '../chance.ts';
import { DARK, inksFrom, SHAPE_INKS } from './colours.ts';
import { plain } from './font.ts';
import { paintMosaic, paletteOf, pure } from './mosaic.ts';
import { encodePng } from './png.ts';

type Inputs = Readonly<Record<string, unknown>>;

/** Everything that a picture depends on. `index` counts the pictures of one run from 1; `size` is the edge in pixels. */
export type PictureOrder = { readonly inputs: Inputs; readonly index: number; readonly size: number };

/** The bytes of the picture as a PNG. */
export function drawPicture({ inputs, index, size }: PictureOrder): Buffer {
  const fingerprint = fingerprintOf(inputs);
  const draw = numbersFrom(hashOf(`${index}/${fingerprint}`));
  const palette = paletteOf(inksFrom(draw));
  const bitmap = { width: size, height: size, pixels: new Uint8Array(size * size).fill(pure(DARK)) };
  paintMosaic(bitmap, { columns: 5, rows: 3, size: size / 5 }, SHAPE_INKS, draw);
  paintCaption(bitmap, captionOf(inputs), Math.ceil((size * 3) / 5));
  // The mosaic depends on 32 bits; the fingerprint makes the files of different inputs different.
  return encodePng(bitmap, palette, `picture ${index} of the inputs sha256:${fingerprint}`);
}

/** Caches the last pictures, so that a repeated download costs nothing. */
export function createAlbum(capacity: number): (order: PictureOrder) => Buffer {
  const kept = new Map<string, Buffer>();
  return (order) => {
    const key = `${order.index}/${order.size}/${fingerprintOf(order.inputs)}`;
    const picture = kept.get(key) ?? drawPicture(order);
    // Inserted again, it becomes the newest entry of the map.
    kept.delete(key);
    kept.set(key, picture);
    const oldest = kept.keys().next().value;
    if (kept.size > capacity && oldest !== undefined) kept.delete(oldest);
    return picture;
  };
}

const fingerprintOf = (inputs: Inputs): string => hash('sha256', canonical(inputs));

/** JSON with sorted keys, so that equal inputs give the same picture. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null || isRawNumber(value))
    return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`;
}

const TEXT_MAX = 400;
const NUMBER_NAMES = ['row', 'number', 'id', 'nr'] as const;
const PROMPT_NAMES = ['prompt', 'text', 'positive'] as const;

/** The text by which a person recognises these inputs; undefined if there is none. */
export const promptOf = (inputs: Inputs): unknown =>
  firstOf(inputs, PROMPT_NAMES) ?? Object.values(inputs).find((value) => typeof value === 'string');

/** The text below the mosaic; a part without an input is empty. */
function captionOf(inputs: Inputs): Caption {
  const number = firstOf(inputs, NUMBER_NAMES);
  const prompt = promptOf(inputs);
  const seed = Object.entries(inputs).find(([name]) => /seed$/i.test(name))?.[1];
  return {
    title: number === undefined ? '' : `#${textOf(number)}`,
    prompt: prompt === undefined ? '' : textOf(prompt),
    seed: seed === undefined ? '' : `seed ${textOf(seed)}`,
  };
}

const firstOf = (inputs: Inputs, names: readonly string[]): unknown =>
  names.map((name) => inputs[name]).find((value) => value !== undefined && value !== null);

const textOf = (value: unknown): string =>
  plain((typeof value === 'string' ? value : canonical(value)).slice(0, TEXT_MAX));
