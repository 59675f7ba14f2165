// Asks about columns of a sheet without a header that got no name: only their cells tell what they are.

import type { InputType } from '../../service-client/contract/deployment.ts';
import { kindOf } from '../parse-cell.ts';
import { shortened } from '../sheet-record.ts';
import type { SheetOptions } from '../sheet-source.ts';
import { areIds } from './cell-forms.ts';
import { dropped, type Guess, mapped, or, toConfirm } from './guess.ts';
import { areOneSetting } from './input-names.ts';
import { areSentences, fits, isValue } from './sample.ts';

/** `columns`: those that are not sent. */
export function namelessUnsent(
  columns: readonly string[],
  { columns: names = [], headerRow, map }: SheetOptions,
  inputTypes: readonly InputType[],
  valuesOf: (column: string) => readonly string[],
): readonly Guess[] {
  if (headerRow !== 0) return [];
  return columns.flatMap((name) => {
    const values = valuesOf(name);
    const [first] = values;
    if (!/^(?:column )?[A-Z]{1,2}$/.test(name) || first === undefined) return [];
    const sent = inputTypes.flatMap((type) => {
      const isFed = Object.hasOwn(map, type.name) || names.includes(type.name);
      const isText = kindOf(type.type) === 'string';
      // Sentences are another text, and no name of a voice.
      const isMeant = isText ? areSentences(values) === isFed && !values.every(isValue) : !isFed;
      if (!fits(values, type) || !isMeant || !mayTake(values, type)) return [];
      const instead = isFed ? dropped(map[type.name] ?? type.name) : {};
      return [or(isFed ? 'to send it instead' : 'to send it', { ...mapped(type.name, name), ...instead })];
    });
    const text = `column "${name}" is not sent, such as ${JSON.stringify(shortened(first))}`;
    return [toConfirm('columns', text, dropped(name), ...sent)];
  });
}

/** Rates that people give; larger numbers name something. */
const MAX_RATE = 10;

/** Whether the input may take such cells: names of files and numbers of rows are neither a name nor a rate. */
const mayTake = (values: readonly string[], { name, type, min, max }: InputType): boolean => {
  if (kindOf(type) === 'string') return areSentences(values) || !areIds(values);
  const most = max ?? (areOneSetting(name, 'speed') ? MAX_RATE : Number.POSITIVE_INFINITY);
  return values.every(
    (text) =>
      Number.isNaN(Number(text)) ||
      (Number(text) >= (min ?? Number.NEGATIVE_INFINITY) && Number(text) <= most),
  );
};
