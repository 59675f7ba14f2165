// Refusals of Replicate as clients have seen them, and its text for a duration.

import type { InputFault } from './model-inputs.ts';
import type { VendorAnswer } from './vendor-stand-in.ts';

export function problem(status: number, detail: string, title?: string, more: object = {}): VendorAnswer {
  return { status, body: { ...(title === undefined ? {} : { title }), detail, status, ...more } };
}

export function shownFault({ kind, field, bound }: InputFault): {
  type: string;
  field: string;
  description: string;
} {
  const place = `input.${field}`;
  const values = Array.isArray(bound) ? bound.map((value) => `"${value}"`).join(', ') : '';
  const faults = {
    missing: { type: 'required', field: 'input', description: `${field} is required` },
    type: { type: 'invalid_type', field: place, description: 'Invalid type' },
    least: {
      type: 'number_gte',
      field: place,
      description: `Must be greater than or equal to ${String(bound)}`,
    },
    most: { type: 'number_lte', field: place, description: `Must be less than or equal to ${String(bound)}` },
    enum: { type: 'enum', field: place, description: `${field} must be one of the following: ${values}` },
  };
  return faults[kind];
}

/** The milliseconds of a duration such as 90s, 5m or 1h30m. */
export function durationOf(text: string | string[] | undefined): number | undefined {
  if (text === undefined) return undefined;
  const units = { h: 3_600, m: 60, s: 1, '': 1 } as const;
  const parts = [...String(text).matchAll(/(\d+)([hms]?)/g)];
  return (
    parts.reduce((sum, [, count, unit]) => sum + Number(count) * units[unit as keyof typeof units], 0) * 1_000
  );
}
