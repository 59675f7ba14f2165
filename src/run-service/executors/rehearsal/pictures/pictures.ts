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
import { canonical } from '../../../../host/formats/canonical-json.ts';
import { hashOf, numbersFrom } from '../../../chance.ts';
import { plain, glyphOf, GLYPH_HEIGHT, GLYPH_WIDTH } from './font.ts';
import { crc32, deflateSync } from 'node:zlib';

type PictureInputs = Readonly<Record<string, unknown>>;

/** Everything that a picture depends on. `index` counts the pictures of one run from 1; `size` is the edge in pixels. */
export type PictureParams = { readonly inputs: PictureInputs; readonly index: number; readonly size: number };

export function drawPicture({ inputs, index, size }: PictureParams): Buffer {
  const fingerprint = fingerprintOf(inputs);
  const draw = numbersFrom(hashOf(`${index}/${fingerprint}`));
  const palette = Uint8Array.from(inksFrom(draw).flat());
  const bitmap = { width: size, height: size, pixels: new Uint8Array(size * size).fill(DARK) };
  paintMosaic(bitmap, { columns: 5, rows: 3 }, draw);
  paintCaption(bitmap, captionOf(inputs), Math.ceil((size * 3) / 5));
  // The mosaic depends on 32 bits; the fingerprint makes the files of different inputs different.
  return encodePng(bitmap, palette, `picture ${index} of the inputs sha256:${fingerprint}`);
}

/** Caches the most recent pictures, so that a repeated download costs nothing. QuickLRU keeps between `capacity` and twice as many. */
export function createAlbum(capacity: number): (params: PictureParams) => Buffer {
  const kept = new QuickLRU<string, Buffer>({ maxSize: capacity });
  return (params) => {
    const key = `${params.index}/${params.size}/${fingerprintOf(params.inputs)}`;
    const picture = kept.get(key) ?? drawPicture(params);
    kept.set(key, picture);
    return picture;
  };
}

const fingerprintOf = (inputs: PictureInputs): string => hash('sha256', canonical(inputs));

const MAX_TEXT = 400;
const NUMBER_NAMES = ['row', 'number', 'id', 'nr'] as const;
const PROMPT_NAMES = ['prompt', 'text', 'positive'] as const;

/** The text by which a person recognises these inputs; undefined if there is none. */
export const promptOf = (inputs: PictureInputs): unknown =>
  firstOf(inputs, PROMPT_NAMES) ?? Object.values(inputs).find((value) => typeof value === 'string');

/** The text below the mosaic; a part without an input is empty. */
function captionOf(inputs: PictureInputs): Caption {
  const number = firstOf(inputs, NUMBER_NAMES);
  const prompt = promptOf(inputs);
  const seed = Object.entries(inputs).find(([name]) => /seed$/i.test(name))?.[1];
  return {
    title: number === undefined ? '' : `#${textOf(number)}`,
    prompt: prompt === undefined ? '' : textOf(prompt),
    seed: seed === undefined ? '' : `seed ${textOf(seed)}`,
  };
}

const firstOf = (inputs: PictureInputs, names: readonly string[]): unknown =>
  names.map((name) => inputs[name]).find((value) => value !== undefined && value !== null);

const textOf = (value: unknown): string =>
  plain((typeof value === 'string' ? value : canonical(value)).slice(0, MAX_TEXT));

type Caption = { readonly title: string; readonly prompt: string; readonly seed: string };

const MARGIN = 5;
const LETTER = GLYPH_WIDTH + 1;
const LINE = GLYPH_HEIGHT + 1;
const TITLE_HEIGHT = 18;

/** Writes the caption into the box that begins at row `from`. All sizes are multiples of `unit`, the pixel of the small letters. */
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

/** Fills a square with one ink, clipped to the picture. */
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

/** Wraps the text into at most `lines` lines of `width` letters, between words if possible; two dots mark a cut. */
function wrapped(text: string, width: number, lines: number): readonly string[] {
  const result: string[] = [];
  let remainder = text;
  while (remainder !== '' && result.length < lines) {
    const line = remainder.length <= width ? remainder : lineOf(remainder, width);
    result.push(line);
    remainder = remainder.slice(line.length).trimStart();
  }
  const last = result.at(-1);
  if (remainder !== '' && last !== undefined) result[result.length - 1] = `${last.slice(0, width - 2)}..`;
  return result;
}

function lineOf(text: string, width: number): string {
  const space = text.lastIndexOf(' ', width);
  return text.slice(0, space > 0 ? space : width);
}

/** Inks are indices into the palette: two for the text, and four of the picture's own hues. */
const DARK = 0;
const LIGHT = 1;
const ACCENT = 3;
const INKS = 6;

/** The palette of a picture; `draw` returns numbers in [0, 1). */
export function inksFrom(draw: () => number): readonly Colour[] {
  const hue = draw();
  const complement = hue + 0.25 + draw() / 2;
  return [
    colour(complement, 0.35, 0.13),
    colour(hue, 0.35, 0.95),
    colour(hue, 0.7, 0.56),
    colour(hue + 0.08, 0.65, 0.74),
    colour(complement, 0.5, 0.42),
    colour(complement + 0.08, 0.55, 0.64),
  ];
}

/** A colour by its hue (in turns), saturation and lightness. */
function colour(hue: number, saturation: number, lightness: number): Colour {
  const range = saturation * Math.min(lightness, 1 - lightness);
  const channel = (shift: number): number => {
    const place = (shift + 12 * hue) % 12;
    return Math.round(255 * (lightness - range * Math.max(-1, Math.min(place - 3, 9 - place, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

const isNear = (u: number, v: number, distance: number): boolean => u * u + v * v < distance * distance;

/** Whether a shape covers a point of its tile; both coordinates go from 0 to 1. */
const SHAPES: readonly ((u: number, v: number) => boolean)[] = [
  (u, v) => isNear(u, v, 1),
  (u, v) => isNear(u, v, 1) && isNear(1 - u, 1 - v, 1),
  (u, v) => isNear(u - 0.5, v - 0.5, 0.36),
  (u, v) => v > 0.5 || isNear(u - 0.5, v - 0.5, 0.5),
  (u, v) => isNear(u - 0.5, v % 0.5, 0.5),
  (u, v) => u + v < 1,
  (u) => Math.floor(u * 8) % 2 === 0,
];

/** Fills the upper part of the picture with `rows` rows of `columns` tiles. */
export function paintMosaic(
  bitmap: Bitmap,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  draw: () => number,
): void {
  const edge = (tile: number): number => Math.round((tile * bitmap.width) / columns);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const [left, top] = [edge(column), edge(row)];
      paintTile(bitmap, { left, top, width: edge(column + 1) - left, height: edge(row + 1) - top }, draw);
    }
}

type Tile = { readonly left: number; readonly top: number; readonly width: number; readonly height: number };

function paintTile(bitmap: Bitmap, { left, top, width, height }: Tile, draw: () => number): void {
  const drawn = (most: number): number => Math.floor(draw() * most);
  const under = drawn(INKS);
  const over = (under + 1 + drawn(INKS - 1)) % INKS;
  const mask = maskOf(drawn(SHAPES.length), width, height);
  const [isTurned, isUpsideDown] = [draw() < 0.5, draw() < 0.5];
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const from = (isUpsideDown ? height - 1 - y : y) * width + (isTurned ? width - 1 - x : x);
      bitmap.pixels[(top + y) * bitmap.width + left + x] = mask[from] === 1 ? over : under;
    }
}

/** Masks of the tile shapes. Pictures of one size share a few masks, and drawing each mask again takes four times as long. */
const masks = new QuickLRU<string, Uint8Array>({ maxSize: 50 });

function maskOf(shape: number, width: number, height: number): Uint8Array {
  const key = `${shape} ${width} ${height}`;
  const cached = masks.get(key);
  if (cached !== undefined) return cached;
  const mask = Uint8Array.from({ length: width * height }, (_, at) =>
    Number(SHAPES[shape]?.(((at % width) + 0.5) / width, (Math.floor(at / width) + 0.5) / height)),
  );
  masks.set(key, mask);
  return mask;
}

type Colour = readonly [red: number, green: number, blue: number];
/** Palette indices, row by row from the top left. */
type Bitmap = { readonly width: number; readonly height: number; readonly pixels: Uint8Array };

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const BITS_PER_PIXEL = 8;
const INDEXED = 3;
const NO_FILTER = 0;
// For flat shapes, higher levels and larger windows save a few hundred bytes and take twice the time.
const DEFLATE = { level: 2, windowBits: 12, memLevel: 6 };

/** The bytes of the file. `palette` has three bytes for each colour; `comment` is Latin-1 text that viewers show. */
export function encodePng(bitmap: Bitmap, palette: Uint8Array, comment: string): Buffer {
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header(bitmap)),
    chunk('PLTE', palette),
    chunk('tEXt', Buffer.from(`Comment\0${comment}`, 'latin1')),
    chunk('IDAT', deflateSync(scanlines(bitmap), DEFLATE)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function header({ width, height }: Bitmap): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([BITS_PER_PIXEL, INDEXED], 8);
  return data;
}

/** Each row begins with the number of its filter. */
function scanlines({ width, height, pixels }: Bitmap): Buffer {
  const data = Buffer.alloc((width + 1) * height, NO_FILTER);
  for (let y = 0; y < height; y++) data.set(pixels.subarray(y * width, (y + 1) * width), y * (width + 1) + 1);
  return data;
}

/** Length, type, data, and the checksum of type and data. */
function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(4);
  frame.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([frame, body, sum]);
}
