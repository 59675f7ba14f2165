// Changes to a row's inputs when it is sent again. The queue stores them for a place, and a record stores
// them for its run, so a result always shows the inputs behind it.

import { templateText } from './templates.ts';
import { parseExactly } from '../host/formats/exact-json.ts';
import { problem } from '../errors/error.ts';
import type { InputType } from '../service-client/contract/deployment.ts';
import { mapColumns } from './column-mapping.ts';
import type { Feed } from './input-sources.ts';
import { withInputNames, type SheetInput } from './named-inputs.ts';
import { fileCell, fileFor, filesIn, sentFiles, type InputFiles } from './input-files.ts';
import type { CellKind } from './parse-cell.ts';
import type { InputKind } from './sheet-source.ts';

export type RowInputs = Readonly<Record<string, unknown>>;

export type InputChange = {
  readonly set: RowInputs;
  /** Inputs that are no longer sent. */
  readonly unset?: readonly string[];
};

/** Applies a change to the sheet's inputs, in canonical order. */
export function changedInputs(inputs: RowInputs, change: InputChange | undefined): RowInputs {
  if (change === undefined) return inputs;
  const { set, unset = [] } = change;
  const entries = Object.entries({ ...inputs, ...set }).filter(([name]) => !unset.includes(name));
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
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
 * The change requested by `--set`, by the rules for sheets; an empty text stops sending the input. Throws
 * E602 for unknown inputs and invalid values.
 */
export async function changeFrom(
  texts: Readonly<Record<string, string>>,
  kinds: Readonly<Record<string, CellKind>>,
  inputTypes: readonly InputType[] | undefined,
  files: InputFiles,
  stored: readonly SheetInput[] = [],
): Promise<InputChange> {
  const { set: named } = withInputNames({ map: {}, set: texts, types: {} }, inputTypes);
  const declared = Object.entries(kinds).filter(
    ([name, kind]) => Object.hasOwn(named, name) && kind !== 'auto',
  );
  const types = Object.fromEntries(declared) as Record<string, InputKind>;
  const { feeds } = mapColumns(
    '--set',
    [],
    { format: 'csv', map: {}, set: named, drop: [], types },
    inputTypes,
  );
  const filled = new Map<string, unknown>();
  for (const feed of feeds) {
    const { input, kind, from } = feed;
    if ('json' in from) filled.set(input, parseExactly(from.json));
    if (!('template' in from)) continue;
    const addresses: string[] = [];
    for (const { text } of filesIn(kind, templateText(from.template, String)))
      addresses.push(await addressIn(feed, text, files));
    filled.set(input, sentFiles(feed, addresses));
  }
  // Rows name fields, except in batches made when rows named inputs.
  const membersOf = (name: string): readonly string[] => {
    const type = inputTypes?.find((inputType) => inputType.name === name);
    const before = stored.find(
      ({ input, fields }) => fields === undefined && (input === name || isOnly(inputTypes, type, input)),
    );
    return before === undefined ? (type?.fields ?? [name]) : [before.input];
  };
  const set = Object.fromEntries(
    [...filled].flatMap(([name, value]) => membersOf(name).map((member) => [member, value] as const)),
  );
  const left = Object.keys(named).filter((name) => !filled.has(name));
  const unset = left.flatMap(membersOf);
  const required = inputTypes?.find((type) => type.required && left.includes(type.name));
  if (required)
    throw problem('E602', {
      what: `--set ${required.name}=: the deployment requires this input`,
      hint: 'give it a value',
    });
  return { set, ...(unset.length === 0 ? {} : { unset }) };
}

/** Whether this input alone had the name when rows still named inputs. */
const isOnly = (
  inputTypes: readonly InputType[] | undefined,
  type: InputType | undefined,
  name: string,
): boolean => {
  const [first, ...otherTypes] = inputTypes?.filter(({ also }) => also?.includes(name)) ?? [];
  return type !== undefined && first?.name === type.name && otherTypes.length === 0;
};

/** For a local file, a placeholder until the file is uploaded. */
async function addressIn(feed: Feed, text: string, files: InputFiles): Promise<string> {
  const { input } = feed;
  const cell = fileCell(text);
  if ('path' in cell) await files.read(cell.path, true);
  const resolved = fileFor({ text, cell }, feed, files);
  if (typeof resolved === 'string') return resolved;
  if ('atServer' in resolved) return resolved.atServer;
  throw problem('E602', {
    what: `--set ${input}: ${JSON.stringify(text)} is ${resolved.what}`,
    hint: 'isSeveral' in resolved ? 'give one of them' : resolved.hint,
  });
}
