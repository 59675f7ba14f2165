// Draws the pattern of a picture: rows of tiles, each with one shape in two inks.

import type { Bitmap, Colour } from './png.ts';

/** Inks by their place in the palette: two for the text, and four of the picture's own hues. */
export const DARK = 0;
export const LIGHT = 1;
export const ACCENT = 3;
const INKS = 6;

/** The palette of a picture; `draw` returns numbers in [0, 1). */
export function inksFrom(draw: () => number): readonly Colour[] {
  const hue = draw();
  const other = hue + 0.25 + draw() / 2;
  return [
    colour(other, 0.35, 0.13),
    colour(hue, 0.35, 0.95),
    colour(hue, 0.7, 0.56),
    colour(hue + 0.08, 0.65, 0.74),
    colour(other, 0.5, 0.42),
    colour(other + 0.08, 0.55, 0.64),
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

/** Whether a shape covers a point of its tile; both coordinates go from 0 to 1. */
type Shape = (u: number, v: number) => boolean;

const isNear = (u: number, v: number, distance: number): boolean => u * u + v * v < distance * distance;

const SHAPES: readonly Shape[] = [
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
  const size = bitmap.width / columns;
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) paintTile(bitmap, { row, column, size }, draw);
}

type Tile = { readonly row: number; readonly column: number; readonly size: number };

/** A pixel belongs to the tile of its centre. */
function paintTile({ width, pixels }: Bitmap, { row, column, size }: Tile, draw: () => number): void {
  const drawn = (most: number): number => Math.floor(draw() * most);
  const under = drawn(INKS);
  const over = (under + 1 + drawn(INKS - 1)) % INKS;
  const covers = SHAPES[drawn(SHAPES.length)];
  const [isTurned, isUpsideDown] = [draw() < 0.5, draw() < 0.5];
  for (let y = Math.ceil(row * size - 0.5); y + 0.5 < (row + 1) * size; y++)
    for (let x = Math.ceil(column * size - 0.5); x + 0.5 < (column + 1) * size; x++) {
      const u = (x + 0.5) / size - column;
      const v = (y + 0.5) / size - row;
      const isCovered = covers?.(isTurned ? 1 - u : u, isUpsideDown ? 1 - v : v);
      pixels[y * width + x] = isCovered ? over : under;
    }
}
