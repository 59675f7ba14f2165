// Draws the pattern of a picture: tiles of quarter circles, arches, stripes and similar shapes, some split into four.
//
// Edges are smooth with only 256 colours: the palette contains a few mixtures of every two inks, and a pixel selects the two
// inks and their ratio.

import type { Bitmap, Colour } from './png.ts';

export const DARK = 0;
export const LIGHT = 1;
export const SWATCHES = [2, 3, 4, 5] as const;
export const SHAPE_INKS: readonly number[] = [DARK, LIGHT, ...SWATCHES];

/** The offsets of the other hues, in turns of the colour circle. */
const HARMONIES: readonly (readonly [number, number, number])[] = [
  [0.08, 0.5, 0.58],
  [0.33, 0.67, 0.08],
  [0.42, 0.58, 0.92],
  [0.06, 0.12, 0.5],
];

/** The inks of a picture; `draw` returns numbers in [0, 1). */
export function inksFrom(draw: () => number): readonly Colour[] {
  const hue = draw();
  const [near, far, other] = HARMONIES[Math.floor(draw() * HARMONIES.length)] ?? [0.08, 0.5, 0.58];
  return [
    oklch(0.24, 0.045, hue + far),
    oklch(0.955, 0.02, hue),
    oklch(0.66, 0.17, hue),
    oklch(0.8, 0.13, hue + near),
    oklch(0.52, 0.13, hue + far),
    oklch(0.74, 0.12, hue + other),
  ];
}

/** A colour by lightness (0..1), chroma and hue (in turns): equal steps look equal, whatever the hue. */
function oklch(lightness: number, chroma: number, hue: number): Colour {
  const angle = hue * 2 * Math.PI;
  const [a, b] = [chroma * Math.cos(angle), chroma * Math.sin(angle)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    toByte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    toByte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    toByte(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

function toByte(linear: number): number {
  const light = Math.min(1, Math.max(0, linear));
  return Math.round(255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055));
}

const INKS = 6;
const LEVELS = 7;

/** The palette index of the first mixture of two inks, which is `under` alone. */
const pairOf = (under: number, over: number): number => (under * INKS + over) * LEVELS;

/** The palette index of one ink alone. */
export const pure = (ink: number): number => pairOf(ink, ink);

/** All mixtures of the inks, in the order of `pairOf`: three bytes each. */
export function paletteOf(inks: readonly Colour[]): Uint8Array {
  const palette = new Uint8Array(inks.length * inks.length * LEVELS * 3);
  let at = 0;
  for (const under of inks)
    for (const over of inks)
      for (let level = 0; level < LEVELS; level++)
        for (let channel = 0; channel < 3; channel++)
          palette[at++] = blend(under[channel] ?? 0, over[channel] ?? 0, level / (LEVELS - 1));
  return palette;
}

const blend = (under: number, over: number, share: number): number =>
  Math.round(under + (over - under) * share);

/** How much of the pixel at (u, v) a shape covers, in a tile of the given size; all in pixels. */
type Shape = (u: number, v: number, size: number) => number;

/** Coverage of a pixel whose middle lies `inside` pixels within an edge; negative outside. */
const edge = (inside: number): number => Math.min(1, Math.max(0, inside + 0.5));
const disc = (u: number, v: number, x: number, y: number, radius: number): number =>
  edge(radius - Math.sqrt((u - x) ** 2 + (v - y) ** 2));

const PLAIN: Shape = () => 0;

const SHAPES: readonly Shape[] = [
  // quarter circle
  (u, v, size) => disc(u, v, 0, 0, size),
  // quarter rings
  (u, v, size) => disc(u, v, 0, 0, size) - disc(u, v, 0, 0, (size * 2) / 3) + disc(u, v, 0, 0, size / 3),
  // leaf
  (u, v, size) => Math.min(disc(u, v, 0, 0, size), disc(u, v, size, size, size)),
  // half circle
  (u, v, size) => disc(u, v, size / 2, 0, size / 2),
  // arch
  (u, v, size) => (v > size / 2 ? 1 : disc(u, v, size / 2, size / 2, size / 2)),
  // circle
  (u, v, size) => disc(u, v, size / 2, size / 2, size * 0.36),
  // triangle
  (u, v, size) => edge((size - u - v) * Math.SQRT1_2),
  // four stripes
  (u, _v, size) => (Math.floor((u * 8) / size) % 2 === 0 ? 1 : 0),
  // two half circles, stacked
  (u, v, size) => disc(u, v % (size / 2), size / 2, 0, size / 2),
  PLAIN,
];

type Tile = { readonly x: number; readonly y: number; readonly size: number };

/** Fills `rows` rows of tiles from the top; `size` is the edge of a tile. Inks from `inks` are drawn by `draw`. */
export function paintMosaic(
  bitmap: Bitmap,
  facts: { readonly columns: number; readonly rows: number; readonly size: number },
  inks: readonly number[],
  draw: () => number,
): void {
  for (let row = 0; row < facts.rows; row++) {
    for (let column = 0; column < facts.columns; column++) {
      const tile = { x: column * facts.size, y: row * facts.size, size: facts.size };
      for (const part of draw() < 0.25 ? quarters(tile) : [tile]) paintTile(bitmap, part, inks, draw);
    }
  }
}

function quarters({ x, y, size }: Tile): readonly Tile[] {
  const half = size / 2;
  return [
    { x, y, size: half },
    { x: x + half, y, size: half },
    { x, y: y + half, size: half },
    { x: x + half, y: y + half, size: half },
  ];
}

function paintTile(bitmap: Bitmap, tile: Tile, inks: readonly number[], draw: () => number): void {
  const under = Math.floor(draw() * inks.length);
  const over = (under + 1 + Math.floor(draw() * (inks.length - 1))) % inks.length;
  const shape = Math.floor(draw() * SHAPES.length);
  const turn = Math.floor(draw() * 4);
  const pair = pairOf(inks[under] ?? 0, inks[over] ?? 0);
  const { width, pixels } = bitmap;
  // A pixel belongs to the tile of its centre, so that tiles of fractional sizes have no gaps and no overlaps.
  const [left, top] = [Math.ceil(tile.x - 0.5), Math.ceil(tile.y - 0.5)];
  const mask = maskOf(shape, turn, { x: tile.x - left, y: tile.y - top, size: tile.size });
  for (let y = 0, at = 0; at < mask.levels.length; y++) {
    const start = (top + y) * width + left;
    for (let x = 0; x < mask.width; x++, at++) pixels[start + x] = pair + (mask.levels[at] ?? 0);
  }
}

/** The level of each pixel of a tile, row by row. */
type Mask = { readonly width: number; readonly levels: Uint8Array };

/** Pictures of one size consist of the same few thousand tiles; larger ones are drawn anew when this many bytes are kept. */
const MASK_BYTES_MOST = 16 << 20;
const masks = new Map<string, Mask>();
let maskBytes = 0;

/** `tile` has its place within its first pixel: fractions, at most 0.5 in size. */
function maskOf(shape: number, turn: number, tile: Tile): Mask {
  const key = `${shape} ${turn} ${Math.round(tile.x * 1e6)} ${Math.round(tile.y * 1e6)} ${tile.size}`;
  const known = masks.get(key);
  if (known !== undefined) return known;
  const mask = drawMask(SHAPES[shape] ?? PLAIN, turn, tile);
  maskBytes += mask.levels.byteLength;
  if (maskBytes > MASK_BYTES_MOST) {
    masks.clear();
    maskBytes = mask.levels.byteLength;
  }
  masks.set(key, mask);
  return mask;
}

function drawMask(shape: Shape, turn: number, { x: left, y: top, size }: Tile): Mask {
  const levels: number[] = [];
  for (let y = 0; y + 0.5 < top + size; y++)
    for (let x = 0; x + 0.5 < left + size; x++)
      levels.push(Math.round(turned(shape, turn, x + 0.5 - left, y + 0.5 - top, size) * (LEVELS - 1)));
  return { width: Math.ceil(left + size - 0.5), levels: Uint8Array.from(levels) };
}

/** The shape after quarter turns. */
function turned(shape: Shape, turn: number, u: number, v: number, size: number): number {
  if (turn === 0) return shape(u, v, size);
  if (turn === 1) return shape(v, size - u, size);
  if (turn === 2) return shape(size - u, size - v, size);
  return shape(size - v, u, size);
}
