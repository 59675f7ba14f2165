// Formats the inputs of a workflow as four columns of at most 80 characters: name, fields, type, and the value of rows without a column.

import { shortened, terminalLine } from '../../errors/outside-text.ts';
import type { InputType } from '../../service-client/contract/deployment.ts';
import { aligned } from '../format.ts';
import { plural } from '../../options/text/printed-numbers.ts';

const HEADER = ['NAME', 'FIELD', 'TYPE', 'NOW'] as const;
/** The width of a terminal, and the most that each column takes of it. */
const WIDEST = { name: 18, fields: 20, type: 18, total: 80 } as const;

export const isWorkflow = ({
  inputTypes = [],
}: {
  readonly inputTypes?: readonly InputType[] | undefined;
}): boolean => inputTypes.some(({ fields }) => fields !== undefined);

/** Whether the input has a name that a column can match. */
const isNamed = ({ name, ask, fields = [] }: InputType): boolean =>
  ask === undefined && !fields.includes(name);

/** `withUnnamed`: include fields that only `--map NODE.FIELD` reaches. */
export function workflowTable(inputTypes: readonly InputType[], withUnnamed: boolean): readonly string[] {
  const named = inputTypes.filter(isNamed);
  const ambiguous = inputTypes.filter(({ ask }) => ask !== undefined);
  const unnamed = inputTypes.filter((input) => input.ask === undefined && !isNamed(input));
  const byField = new Map(
    inputTypes.flatMap((input) => (input.ask === undefined ? [[input.fields?.[0], input] as const] : [])),
  );
  const rows = [HEADER, ...named.map(rowOf), ...(withUnnamed ? unnamed.map(rowOf) : [])];
  return [
    ...lines(rows),
    ...(ambiguous.length === 0
      ? []
      : [
          '',
          'several fields, asked about when a sheet has a column of the name:',
          ...lines(ambiguous.map((input) => askedRow(input, byField))),
        ]),
    ...(withUnnamed || unnamed.length === 0
      ? []
      : [
          '',
          `${plural(unnamed.length, 'more field')} that a column can fill by --map NODE.FIELD=COLUMN: --fields`,
        ]),
  ];
}

/** The columns of a typical sheet for the workflow: texts, files, seeds and sizes. */
export const usualColumns = (inputTypes: readonly InputType[]): readonly string[] =>
  inputTypes.filter((input) => isNamed(input) && (input.required || isUsual(input))).map(({ name }) => name);

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

/** The current values of the fields, in order. */
function askedRow(input: InputType, byField: ReadonlyMap<string | undefined, InputType>): readonly string[] {
  const [name = '', fields = '', type = ''] = rowOf(input);
  const now = (input.fields ?? []).map((path) => valueText(byField.get(path)?.default));
  return [name, fields, type, now.join(' · ')];
}

/** Client types in plain words. */
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
/** Bounds beyond this only state the size of the number type. */
const FAR = 1e9;

function valueText(value: unknown): string {
  if (value === undefined || value === '') return '(empty)';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
