// Asks about members of a JSON document that stand beside its list of rows and have the names of inputs: `"fps": 24`, or
// `"defaults": {"fps": 24}`. They are the same for all rows, so `--set` sends them.

import { list } from '../../errors/error.ts';
import { isRawNumber } from '../../host/formats/exact-json.ts';
import type { InputType } from '../../service-client/contract/deployment.ts';
import { readJson } from '../json/json-text.ts';
import { asChoice, kindOf, notAllowed, readText } from '../parse-cell.ts';
import { isSize, partsIn, typeOf } from '../shared-cells.ts';
import { cellText, shortened } from '../sheet-record.ts';
import type { SheetOptions, SheetSource } from '../sheet-source.ts';
import { lenientTextOf } from '../text/sheet-text.ts';
import { type Guess, or, said, toConfirm } from './guess.ts';
import { isCalled } from './open-columns.ts';
import { fits, isMedia } from './sample.ts';

/** A text, a number, true or false, and its path in the document. */
type OuterMember = { readonly path: string; readonly text: string };

type Members = Readonly<Record<string, unknown>>;

/** Length in characters of documents that are read whole. */
const MOST = 16 * 1024 * 1024;

/** The members beside the list of rows, and those of an object beside it; the nearest ones first. */
export async function membersBeside(
  source: SheetSource,
  { format, orient, records, ...writing }: SheetOptions,
): Promise<readonly OuterMember[]> {
  if (format !== 'json' || records === undefined || orient !== undefined) return [];
  let text = '';
  for await (const piece of lenientTextOf(source, { format, ...writing })) {
    text += piece;
    if (text.length > MOST) return [];
  }
  const levels: OuterMember[][] = [];
  const document = readJson(text);
  let value = 'value' in document ? document.value : undefined;
  const names = records.split('.');
  for (const [depth, name] of names.entries()) {
    if (isObject(value)) levels.unshift(membersOf(value, names.slice(0, depth), name));
    value = (value as Members | undefined)?.[name];
  }
  return levels.flat();
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);

/** The plain members, then those of objects; `within` is on the way to the list. */
function membersOf(members: Members, path: readonly string[], within?: string): OuterMember[] {
  const outer = Object.entries(members).filter(([name]) => name !== within);
  const isPlain = (value: unknown): boolean =>
    cellText(value).trim() !== '' && (typeof value !== 'object' || isRawNumber(value));
  return [
    ...outer.flatMap(([name, value]) =>
      isPlain(value) ? [{ path: [...path, name].join('.'), text: cellText(value) }] : [],
    ),
    ...outer.flatMap(([name, value]) =>
      within !== undefined && isObject(value) ? membersOf(value, [...path, name]) : [],
    ),
  ];
}

type BesideFacts = {
  readonly outer: readonly OuterMember[];
  readonly columns: readonly string[];
  readonly inputTypes: readonly InputType[] | undefined;
  readonly options: SheetOptions;
  /** The cells of the first rows, with empty ones. */
  readonly cellsOf: (column: string) => readonly string[];
};

/** A member with the text that `--set` sends of it, and with the texts of further members of its name. */
type Setting = OuterMember & {
  readonly input: string;
  readonly value: string;
  readonly further?: readonly string[];
};

/** The question about members that have the name of an input which no row has, and lines about members that are not sent. */
export function besideList({
  outer,
  columns,
  inputTypes = [],
  options,
  cellsOf,
}: BesideFacts): readonly Guess[] {
  const isOpen = (input: string): boolean =>
    ![options.set, options.map].some((named) => Object.hasOwn(named, input)) &&
    !columns.some((name) => isCalled(name, input) && cellsOf(name).some(Boolean));
  const settings = inputTypes.flatMap((type) => settingFor(type, outer) ?? []);
  const open = settings.filter(({ input }) => isOpen(input));
  const sizes = sizesIn(outer, inputTypes).filter(({ input }) => isOpen(input));
  const sent = [...open.filter(({ value }) => value !== ''), ...(sizes.length === 2 ? sizes : [])];
  const unsent = (setting: Setting, why: string): Guess =>
    said('values', `${shown(setting)} beside the list of rows is not sent${why}`);
  const lacking = settings.filter(({ input }) => columns.includes(input) && cellsOf(input).includes(''));
  return [
    ...(sent.length === 0 ? [] : [question(sent)]),
    ...open.flatMap((setting) =>
      setting.value === '' ? [unsent(setting, `: the input ${setting.input} does not take it`)] : [],
    ),
    ...lacking.map((setting) => unsent(setting, `, also for rows without their own "${setting.input}"`)),
  ];
}

const shown = ({ path, text }: OuterMember): string => `${path} ${JSON.stringify(shortened(text))}`;

/** The first member of this name with a value that the input takes. */
function settingFor(type: InputType, outer: readonly OuterMember[]): Setting | undefined {
  const called = outer.filter(({ path }) => isCalled(path.slice(path.lastIndexOf('.') + 1), type.name));
  const taken = called.filter(({ text }) => isTaken(text, type));
  const [member = called[0]] = taken;
  const further = [...new Set(taken.slice(1).map(({ text }) => text))];
  return member && { ...member, input: type.name, value: taken[0]?.text ?? '', further };
}

/** Whether the input takes the value, also as another spelling of a choice. */
function isTaken(text: string, type: InputType): boolean {
  if (isMedia(type)) return fits([text], type);
  const json = readText(text, kindOf(type.type));
  return typeof json === 'string' && notAllowed(asChoice(json, type), type) === undefined;
}

/** A size such as 1024x768 as a width and a height. */
function sizesIn(outer: readonly OuterMember[], inputTypes: readonly InputType[]): readonly Setting[] {
  const [width, height] = [typeOf('width', inputTypes), typeOf('height', inputTypes)];
  const size = outer.find(({ text }) => isSize(text));
  if (width === undefined || height === undefined || size === undefined) return [];
  const parts = partsIn(size.text, ['width', 'height'], [width, height]) ?? [];
  return [width, height].map(({ name }, at) => ({ ...size, input: name, value: parts[at] ?? '' }));
}

function question(settings: readonly Setting[]): Guess {
  const texts = [...new Set(settings.map(shown))];
  const [is, it] = texts.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const setBy = (valueOf: (setting: Setting) => string) => ({
    set: Object.fromEntries(settings.map((setting) => [setting.input, asTemplate(valueOf(setting))])),
  });
  const instead = settings.flatMap(({ input, further = [] }) =>
    further.map((text) => or('to send another one', { set: { [input]: asTemplate(text) } })),
  );
  const text = `${list(texts)} beside the list of rows ${is} sent with each row`;
  const without = or(
    `to leave ${it} out`,
    setBy(() => ''),
  );
  return toConfirm(
    'values',
    text,
    setBy(({ value }) => value),
    ...instead,
    without,
  );
}

/** Braces of a text are no columns. */
const asTemplate = (text: string): string => text.replaceAll(/[{}]/g, '$&$&');
