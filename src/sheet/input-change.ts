// Inputs of a row that differ from its sheet, because the row was sent again with others. The queue has them for a place, and a
// record for the run that it describes, so a result always shows the inputs that led to it.

import { parseExactly } from '../batch/digits.ts';
import { problem } from '../errors/error.ts';
import type { InputType } from '../run-service/contract/deployment.ts';
import { mapColumns } from './column-mapping.ts';
import { fileCell } from './input-files.ts';
import type { Kind } from './parse-cell.ts';
import type { InputKind } from './sheet-options.ts';

export type Inputs = Readonly<Record<string, unknown>>;

export type InputChange = {
  readonly set: Inputs;
  /** Inputs that are no longer sent. */
  readonly unset?: readonly string[];
};

/** The inputs of the sheet with a change, in canonical order. */
export function changedInputs(inputs: Inputs, change: InputChange | undefined): Inputs {
  if (change === undefined) return inputs;
  const { set, unset = [] } = change;
  const all = Object.entries({ ...inputs, ...set }).filter(([name]) => !unset.includes(name));
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function bothChanges(
  first: InputChange | undefined,
  second: InputChange | undefined,
): InputChange | undefined {
  if (first === undefined || second === undefined) return second ?? first;
  const removed = [...(first.unset ?? []).filter((name) => !(name in second.set)), ...(second.unset ?? [])];
  const unset = [...new Set(removed)];
  const set = Object.entries({ ...first.set, ...second.set }).filter(([name]) => !unset.includes(name));
  return { set: Object.fromEntries(set), ...(unset.length === 0 ? {} : { unset }) };
}

/**
 * The change that `--set` asks for, by the rules for sheets; an empty text stops sending the input. Throws E602 for unknown inputs
 * and invalid values.
 */
export function changeFrom(
  given: Readonly<Record<string, string>>,
  kinds: Readonly<Record<string, Kind>>,
  inputTypes: readonly InputType[] | undefined,
): InputChange {
  const declared = Object.entries(kinds).filter(
    ([name, kind]) => Object.hasOwn(given, name) && kind !== 'auto',
  );
  const types = Object.fromEntries(declared) as Record<string, InputKind>;
  const { feeds } = mapColumns(
    '--set',
    [],
    { format: 'csv', map: {}, set: given, drop: [], types },
    inputTypes,
  );
  const set = Object.fromEntries(
    feeds.flatMap(({ input, from }) => {
      if ('json' in from) return [[input, parseExactly(from.json)]];
      return 'template' in from ? [[input, addressIn(input, from.template.join(''))]] : [];
    }),
  );
  const unset = Object.keys(given).filter((name) => !Object.hasOwn(set, name));
  const required = inputTypes?.find((type) => type.required && unset.includes(type.name));
  if (required)
    throw problem('E602', {
      what: `--set ${required.name}=: the deployment requires this input`,
      hint: 'give it a value',
    });
  return { set, ...(unset.length === 0 ? {} : { unset }) };
}

/** Nothing is uploaded for rows that are sent again. */
function addressIn(input: string, text: string): string {
  const cell = fileCell(text);
  if ('address' in cell) return cell.address;
  throw problem('E602', {
    what: `--set ${input}: ${JSON.stringify(text)} is not an address`,
    hint: 'give an http address; to send a file of this machine, change the cell and add the sheet with --into',
  });
}
