// Draws the text of a picture: title, prompt and seed in a box below the mosaic.

import { LIGHT, SWATCHES } from './colours.ts';
import { glyphOf, GLYPH_HEIGHT, GLYPH_WIDTH } from './font.ts';
import { pure } from './mosaic.ts';
import type { Bitmap } from './png.ts';

export type Caption = { readonly title: string; readonly prompt: string; readonly seed: string };

/** All sizes are multiples of `unit`, the pixel of the small letters; `letters` of them fit in a line. */
type Box = {
  readonly top: number;
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly unit: number;
  readonly letters: number;
};
const MARGIN = 5;
const LETTER = GLYPH_WIDTH + 1;
const LINE = GLYPH_HEIGHT + 1;
const TITLE_HEIGHT = 18;
const SWATCH = 5;

/** Writes the caption into the box that begins at the row `top`. */
export function paintCaption(bitmap: Bitmap, caption: Caption, top: number): void {
  const box = boxOf(bitmap, top);
  const { unit, left, bottom, letters } = box;
  paintSwatches(bitmap, box);
  const title = { x: left, y: box.top, unit: 2 * unit };
  paintText(bitmap, title, caption.title.slice(0, Math.floor(letters / 2) - 2), LIGHT);
  const promptTop = caption.title === '' ? box.top : box.top + TITLE_HEIGHT * unit;
  const seedTop = bottom - GLYPH_HEIGHT * unit;
  const lines = wrapped(caption.prompt, letters, Math.floor((seedTop - promptTop) / (LINE * unit)));
  lines.forEach((line, index) =>
    paintText(bitmap, { x: left, y: promptTop + index * LINE * unit, unit }, line, LIGHT),
  );
  paintText(bitmap, { x: left, y: seedTop, unit }, caption.seed.slice(0, letters), SWATCHES[1]);
}

function boxOf({ width, height }: Bitmap, top: number): Box {
  const unit = Math.max(1, Math.floor(width / 160));
  const margin = MARGIN * unit;
  const letters = Math.floor((width - 2 * margin + unit) / (LETTER * unit));
  // Letters include a row for descenders, so the lower margin is one pixel smaller.
  return {
    top: top + margin,
    left: margin,
    right: width - margin,
    bottom: height - margin + unit,
    unit,
    letters,
  };
}

function paintSwatches(bitmap: Bitmap, { right, top, unit }: Box): void {
  SWATCHES.forEach((ink, index) => {
    const x = right - ((SWATCHES.length - index) * (SWATCH + 1) - 1) * unit;
    fill(bitmap, { x, y: top, size: SWATCH * unit }, ink);
  });
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
    pixels.fill(pure(ink), y * width + Math.min(square.x, right), y * width + right);
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
