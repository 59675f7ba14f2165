// The inputs of a workflow as four columns of at most 80 characters: name, fields, type, and what each row has without a column.

import { shortened, terminalLine } from '../../errors/outside-text.ts';
import type { InputType } from '../../run-service/contract/deployment.ts';
import { aligned, plural } from '../format.ts';

const HEADER = ['NAME', 'FIELD', 'TYPE', 'NOW'] as const;
/** The columns of a terminal, and what each of the four gets of them at most. */
const WIDEST = { name: 18, fields: 20, type: 18, total: 80 } as const;

export const isWorkflow = ({
  inputTypes = [],
}: {
  readonly inputTypes?: readonly InputType[] | undefined;
}): boolean => inputTypes.some(({ fields }) => fields !== undefined);

/** Whether it has a name of its own, by which a column finds it. */
const isNamed = ({ name, ask, fields = [] }: InputType): boolean =>
  ask === undefined && !fields.includes(name);

/** `all`: also the fields that only `--map NODE.FIELD` reaches. */
export function workflowTable(inputTypes: readonly InputType[], all: boolean): readonly string[] {
  const named = inputTypes.filter(isNamed);
  const ambiguous = inputTypes.filter(({ ask }) => ask !== undefined);
  const unnamed = inputTypes.filter((one) => one.ask === undefined && !isNamed(one));
  const byField = new Map(
    inputTypes.flatMap((one) => (one.ask === undefined ? [[one.fields?.[0], one] as const] : [])),
  );
  const rows = [HEADER, ...named.map(rowOf), ...(all ? unnamed.map(rowOf) : [])];
  return [
    ...lines(rows),
    ...(ambiguous.length === 0
      ? []
      : [
          '',
          'several fields, asked about when a sheet has a column of the name:',
          ...lines(ambiguous.map((one) => askedRow(one, byField))),
        ]),
    ...(all || unnamed.length === 0
      ? []
      : [
          '',
          `${plural(unnamed.length, 'more field')} that a column can fill by --map NODE.FIELD=COLUMN: --fields`,
        ]),
  ];
}

/** The columns of a usual sheet for the workflow: its texts, files, seeds and sizes. */
export const usualColumns = (inputTypes: readonly InputType[]): readonly string[] =>
  inputTypes.filter((one) => isNamed(one) && (one.required || isUsual(one))).map(({ name }) => name);

const SIZES: ReadonlySet<string> = new Set(['seed', 'width', 'height']);
const isUsual = ({ name, type }: InputType): boolean => SIZES.has(name) || !SETTINGS.has(type);
const SETTINGS: ReadonlySet<string> = new Set(['int', 'float', 'bool', 'enum']);

const lines = (rows: readonly (readonly string[])[]): readonly string[] =>
  aligned(rows.map((row) => row.map(terminalLine))).map((line) => shortened(line.trimEnd(), WIDEST.total));

const rowOf = (input: InputType): readonly string[] => {
  const { name, fields = [] } = input;
  return [
    shortened(name, WIDEST.name),
    shortened(fields.join(' '), WIDEST.fields),
    shortened(typeText(input), WIDEST.type),
    input.required ? 'required' : valueText(input.default),
  ];
};

/** The values that its fields have now, one after the other. */
function askedRow(input: InputType, byField: ReadonlyMap<string | undefined, InputType>): readonly string[] {
  const [name = '', fields = '', type = ''] = rowOf(input);
  const now = (input.fields ?? []).map((path) => valueText(byField.get(path)?.default));
  return [name, fields, type, now.join(' · ')];
}

/** The types of clients in people's words. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['string', 'text'],
  ['float', 'number'],
  ['bool', 'true or false'],
  ['image', 'picture'],
  ['audio', 'sound'],
]);

function typeText({ type, min, max, options }: InputType): string {
  if (options !== undefined) return plural(options.length, 'choice');
  const name = TYPES.get(type) ?? type;
  if (min !== undefined && max !== undefined && max < FAR) return `${name} ${min}–${max}`;
  return min === undefined || min <= -FAR ? name : `${name} ≥ ${min}`;
}
/** Bounds that say no more than how large a number may be. */
const FAR = 1e9;

function valueText(value: unknown): string {
  if (value === undefined || value === '') return '(empty)';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
