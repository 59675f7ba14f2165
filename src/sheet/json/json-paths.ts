// Values within the objects of a row: by a path such as body.messages, or as if the members of one object were those of the row.

import { isRawNumber } from '../../batch/digits.ts';
import type { SheetOptions } from '../sheet-options.ts';
import type { RecordFault } from '../sheet-record.ts';
import type { Spot } from '../text/sheet-text.ts';

export type Values = Readonly<Record<string, unknown>>;
export type ReadPiece = { readonly values: Values } | { readonly fault: RecordFault };

export const isRow = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);

/** The paths that options name. */
export const pathsIn = ({ map, set, keyColumn, gpuColumn }: SheetOptions): readonly string[] =>
  [
    ...Object.values(map),
    ...Object.values(set).flatMap((text) =>
      [...text.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name.trim()),
    ),
    keyColumn ?? '',
    gpuColumn ?? '',
  ].filter((name) => name.includes('.'));

/** The value at a path; numbers count the elements of a list from 0. */
export function valueAt(values: Values, path: string): unknown {
  let value: unknown = values;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || isRawNumber(value) || !Object.hasOwn(value, name))
      return undefined;
    value = (value as Values)[name];
  }
  return value;
}

/** The row with the members of its object `wrapping` instead of the object. */
export function withoutWrapping(values: Values, wrapping: string | undefined, at: Spot): ReadPiece {
  const inner = wrapping === undefined || !Object.hasOwn(values, wrapping) ? undefined : values[wrapping];
  if (wrapping === undefined) return { values };
  // Without its inputs, the row would run with those of the deployment.
  if (!isRow(inner)) {
    const what = `the row has no object "${wrapping}", in which the others have their inputs`;
    return { fault: { line: at.line, column: at.column, what } };
  }
  const { [wrapping]: _, ...outer } = values;
  const both = Object.keys(inner).find((name) => Object.hasOwn(outer, name));
  if (both === undefined) return { values: { ...outer, ...inner } };
  const what = `the row has "${both}" beside "${wrapping}" and in it`;
  return {
    fault: { line: at.line, column: at.column, what, hint: 'leave out --unwrap, and name paths: --map' },
  };
}
