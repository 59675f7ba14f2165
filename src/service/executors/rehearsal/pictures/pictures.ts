// The output pictures of runs: a mosaic that depends on the inputs, and below it the row number, the prompt and the seed, which
// a person can compare with the sheet. The same inputs always give the same bytes.
//
//      ┌──────────────────┐
//      │ mosaic, 3 of 5   │
//      ├──────────────────┤
//      │ #12              │
//      │ the prompt,      │
//      │ wrapped and cut  │
//      │ seed 1844…       │
//      └──────────────────┘

import { hash } from 'node:crypto';
import QuickLRU from 'quick-lru';
import { isRawNumber } from '../../../../batch/digits.ts';
import { hashOf, numbersFrom } from '../../../chance.ts';
import { ACCENT, DARK, inksFrom, LIGHT, paintMosaic } from './mosaic.ts';
import { plain, glyphOf, GLYPH_HEIGHT, GLYPH_WIDTH } from './font.ts';
import { encodePng, type Bitmap } from './png.ts';

type Inputs = Readonly<Record<string, unknown>>;

/** Everything that a picture depends on. `index` counts the pictures of one run from 1; `size` is the edge in pixels. */
export type PictureOrder = { readonly inputs: Inputs; readonly index: number; readonly size: number };

export function drawPicture({ inputs, index, size }: PictureOrder): Buffer {
  const fingerprint = fingerprintOf(inputs);
  const draw = numbersFrom(hashOf(`${index}/${fingerprint}`));
  const palette = Uint8Array.from(inksFrom(draw).flat());
  const bitmap = { width: size, height: size, pixels: new Uint8Array(size * size).fill(DARK) };
  paintMosaic(bitmap, { columns: 5, rows: 3 }, draw);
  paintCaption(bitmap, captionOf(inputs), Math.ceil((size * 3) / 5));
  // The mosaic depends on 32 bits; the fingerprint makes the files of different inputs different.
  return encodePng(bitmap, palette, `picture ${index} of the inputs sha256:${fingerprint}`);
}

/** Caches the last pictures, so that a repeated download costs nothing; at least `capacity`, and at most twice as many. */
export function createAlbum(capacity: number): (order: PictureOrder) => Buffer {
  const kept = new QuickLRU<string, Buffer>({ maxSize: capacity });
  return (order) => {
    const key = `${order.index}/${order.size}/${fingerprintOf(order.inputs)}`;
    const picture = kept.get(key) ?? drawPicture(order);
    kept.set(key, picture);
    return picture;
  };
}

const fingerprintOf = (inputs: Inputs): string => hash('sha256', canonical(inputs));

/** JSON with sorted keys, so that equal inputs give the same picture. */
const canonical = (value: unknown): string => JSON.stringify(value, sorted) ?? 'null';

function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isRawNumber(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
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

type Caption = { readonly title: string; readonly prompt: string; readonly seed: string };

const MARGIN = 5;
const LETTER = GLYPH_WIDTH + 1;
const LINE = GLYPH_HEIGHT + 1;
const TITLE_HEIGHT = 18;

/** Writes the caption into the box that begins at the row `from`. All sizes are multiples of `unit`, the pixel of the small letters. */
function paintCaption(bitmap: Bitmap, caption: Caption, from: number): void {
  const { width, height } = bitmap;
  const unit = Math.max(1, Math.floor(width / 160));
  const left = MARGIN * unit;
  const top = from + left;
  const letters = Math.floor((width - 2 * left + unit) / (LETTER * unit));
  const title = { x: left, y: top, unit: 2 * unit };
  paintText(bitmap, title, caption.title.slice(0, Math.floor(letters / 2)), LIGHT);
  const promptTop = caption.title === '' ? top : top + TITLE_HEIGHT * unit;
  // Letters include a row for descenders, so the lower margin is one pixel smaller.
  const seedTop = height - left + unit - GLYPH_HEIGHT * unit;
  const lines = wrapped(caption.prompt, letters, Math.floor((seedTop - promptTop) / (LINE * unit)));
  lines.forEach((line, index) =>
    paintText(bitmap, { x: left, y: promptTop + index * LINE * unit, unit }, line, LIGHT),
  );
  paintText(bitmap, { x: left, y: seedTop, unit }, caption.seed.slice(0, letters), ACCENT);
}

type Spot = { readonly x: number; readonly y: number; readonly unit: number };

function paintText(bitmap: Bitmap, at: Spot, text: string, ink: number): void {
  Array.from(text).forEach((letter, index) => {
    const left = at.x + index * LETTER * at.unit;
    for (const { x, y } of glyphOf(letter)) {
      fill(bitmap, { x: left + x * at.unit, y: at.y + y * at.unit, size: at.unit }, ink);
    }
  });
}

/** A square of one ink, clipped to the picture. */
function fill(
  { width, height, pixels }: Bitmap,
  square: { readonly x: number; readonly y: number; readonly size: number },
  ink: number,
): void {
  const right = Math.min(square.x + square.size, width);
  for (let y = square.y; y < Math.min(square.y + square.size, height); y++) {
    pixels.fill(ink, y * width + Math.min(square.x, right), y * width + right);
  }
}

/** The text in at most `lines` lines of `width` letters, broken between words if possible; two dots mark a cut. */
function wrapped(text: string, width: number, lines: number): readonly string[] {
  const result: string[] = [];
  let rest = text;
  while (rest !== '' && result.length < lines) {
    const line = rest.length <= width ? rest : lineOf(rest, width);
    result.push(line);
    rest = rest.slice(line.length).trimStart();
  }
  const last = result.at(-1);
  if (rest !== '' && last !== undefined) result[result.length - 1] = `${last.slice(0, width - 2)}..`;
  return result;
}

function lineOf(text: string, width: number): string {
  const space = text.lastIndexOf(' ', width);
  return text.slice(0, space > 0 ? space : width);
}
