// Creates six matching inks from a hue: a dark and a light one for text, four for shapes.

import type { Colour } from './png.ts';

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
