// A deployment's servers and inputs as the API shows them.

import { definedOnly } from '../../../options/defined-only.ts';
import { pathOf } from './naming/values.ts';
import type { InputType } from './workflow.ts';

export const shownServer = ({ url, gpu }: { readonly url: string; readonly gpu: string | null }) => ({
  url,
  gpu: gpu === '' ? null : gpu,
});

export const shownInput = ({
  name,
  type,
  default: usual,
  min,
  max,
  options,
  fields,
  isAbsent,
  isUnset,
  ...more
}: InputType) => ({
  name,
  type,
  // For an ambiguous name, each field is required by itself.
  required: (isAbsent === true || isUnset === true) && more.ask === undefined,
  default: usual,
  ...definedOnly({ min: shownBound(min), max: shownBound(max) }),
  ...(options === undefined ? {} : { options: [...options] }),
  // The inputs of a program or a model are no fields of nodes.
  ...(fields.every(({ node }) => node !== '') && {
    fields: fields.map((field) => `${pathOf(field)}${field.part ?? ''}`),
  }),
  ...definedOnly({
    also: more.also && [...more.also],
    ask: more.ask,
    word: more.word,
    isIdle: more.isIdle,
    node: more.node && definedOnly(more.node),
  }),
});

/** Clients would misread the digits of a bound beyond 2^53. Values beyond it are refused anyway. */
function shownBound(bound: string | undefined): number | undefined {
  const number = Number(bound);
  return bound === undefined || (Number.isInteger(number) && !Number.isSafeInteger(number))
    ? undefined
    : number;
}
