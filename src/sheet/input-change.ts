// Inputs of a row that differ from its sheet, because the row was sent again with others. The queue has them for a place, and a
// record for the run that it describes, so a result always shows the inputs that led to it.

import { parseExactly } from '../host/exact-json.ts';
import { problem } from '../errors/error.ts';
import type { InputType } from '../run-service/contract/deployment.ts';
import { mapColumns, type Feed } from './column-mapping.ts';
import { withInputNames, type SheetInput } from './named-inputs.ts';
import { fileCell, fileFor, filesIn, sentFiles, type InputFiles } from './input-files.ts';
import type { Kind } from './parse-cell.ts';
import type { InputKind } from './sheet-source.ts';

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
export async function changeFrom(
  asked: Readonly<Record<string, string>>,
  kinds: Readonly<Record<string, Kind>>,
  inputTypes: readonly InputType[] | undefined,
  files: InputFiles,
  stored: readonly SheetInput[] = [],
): Promise<InputChange> {
  const { set: given } = withInputNames({ map: {}, set: asked, types: {} }, inputTypes);
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
  const filled = new Map<string, unknown>();
  for (const feed of feeds) {
    const { input, kind, from } = feed;
    if ('json' in from) filled.set(input, parseExactly(from.json));
    if (!('template' in from)) continue;
    const addresses: string[] = [];
    for (const { text } of filesIn(kind, from.template.join('')))
      addresses.push(await addressIn(feed, text, files));
    filled.set(input, sentFiles(feed, addresses));
  }
  // Rows speak of fields, but for those of a batch that was made when they spoke of names.
  const membersOf = (name: string): readonly string[] => {
    const type = inputTypes?.find((one) => one.name === name);
    const before = stored.find(
      ({ input, fields }) => fields === undefined && (input === name || isOnly(inputTypes, type, input)),
    );
    return before === undefined ? (type?.fields ?? [name]) : [before.input];
  };
  const set = Object.fromEntries(
    [...filled].flatMap(([name, value]) => membersOf(name).map((member) => [member, value] as const)),
  );
  const left = Object.keys(given).filter((name) => !filled.has(name));
  const unset = left.flatMap(membersOf);
  const required = inputTypes?.find((type) => type.required && left.includes(type.name));
  if (required)
    throw problem('E602', {
      what: `--set ${required.name}=: the deployment requires this input`,
      hint: 'give it a value',
    });
  return { set, ...(unset.length === 0 ? {} : { unset }) };
}

/** Whether this input had the name when rows spoke of names, and no other one. */
const isOnly = (
  inputTypes: readonly InputType[] | undefined,
  type: InputType | undefined,
  name: string,
): boolean => {
  const [first, ...others] = inputTypes?.filter(({ also }) => also?.includes(name)) ?? [];
  return type !== undefined && first?.name === type.name && others.length === 0;
};

/** Of a file of this machine, it may be a mark until that is uploaded. */
async function addressIn(feed: Feed, text: string, files: InputFiles): Promise<string> {
  const { input } = feed;
  const cell = fileCell(text);
  if ('path' in cell) await files.read(cell.path, true);
  const found = fileFor({ text, cell }, feed, files);
  if (typeof found === 'string') return found;
  if ('atServer' in found) return found.atServer;
  throw problem('E602', {
    what: `--set ${input}: ${JSON.stringify(text)} is ${found.what}`,
    hint: 'isSeveral' in found ? 'give one of them' : found.hint,
  });
}
