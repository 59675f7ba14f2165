// Draws the pattern of a picture: tiles of quarter circles, arches, stripes and similar shapes, some split into four.
//
// Edges are smooth with only 256 colours: the palette contains a few mixtures of every two inks, and a pixel selects the two
// inks and their ratio.

import type { Bitmap, Colour } from './png.ts';

const INKS = 6;
const LEVELS = 7;

/** The palette index of the first mixture of two inks, which is `under` alone. */
const pairOf = (under: number, over: number): number => (under * INKS + over) * LEVELS;

/** The palette index of one ink alone. */
export const pure = (ink: number): number => pairOf(ink, ink);

/** All mixtures of the inks, in the order of `pairOf`. */
export const paletteOf = (inks: readonly Colour[]): readonly Colour[] =>
  inks.flatMap((under) =>
    inks.flatMap((over) =>
      Array.from({ length: LEVELS }, (_, level) => blend(under, over, level / (LEVELS - 1))),
    ),
  );

const blend = (under: Colour, over: Colour, share: number): Colour => [
  Math.round(under[0] + (over[0] - under[0]) * share),
  Math.round(under[1] + (over[1] - under[1]) * share),
  Math.round(under[2] + (over[2] - under[2]) * share),
];

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
  const shape = SHAPES[Math.floor(draw() * SHAPES.length)] ?? PLAIN;
  const turn = Math.floor(draw() * 4);
  const pair = pairOf(inks[under] ?? 0, inks[over] ?? 0);
  const { width, pixels } = bitmap;
  const { size } = tile;
  // A pixel belongs to the tile of its centre, so that tiles of fractional sizes have no gaps and no overlaps.
  for (let y = Math.ceil(tile.y - 0.5); y + 0.5 < tile.y + size; y++) {
    for (let x = Math.ceil(tile.x - 0.5); x + 0.5 < tile.x + size; x++) {
      const share = turned(shape, turn, x + 0.5 - tile.x, y + 0.5 - tile.y, size);
      pixels[y * width + x] = pair + Math.round(share * (LEVELS - 1));
    }
  }
}

/** The shape after quarter turns. */
function turned(shape: Shape, turn: number, u: number, v: number, size: number): number {
  if (turn === 0) return shape(u, v, size);
  if (turn === 1) return shape(v, size - u, size);
  if (turn === 2) return shape(size - u, size - v, size);
  return shape(size - v, u, size);
}
