// Reads a file of translations as i18next, Crowdin and Flutter write it: each text of a nested object is a row, and its key is the path.

import { problem } from '../../errors/error.ts';
import { MAX_RECORD, tooLong } from '../sheet-record.ts';
import { type JsonPiece, JsonWalk, type OpenedValue } from './json-elements.ts';
import { readJson } from './json-text.ts';

/** Members for programs and translators: `_comment`, `@hello`, `$schema`. */
const NOTE = /^[_@$]/;

/** Whether the document has texts only, whose names are not those of columns: the members of rows share their names. */
export function areTextMembers(shape: readonly OpenedValue[], isInput: (name: string) => boolean): boolean {
  const leaves = shape.filter(({ opens }) => opens !== '{');
  const members = new Set(shape.flatMap(({ path }) => path.slice(0, 1)));
  const seconds = shape.flatMap(({ path }) => (path.length === 2 ? path.slice(1) : []));
  const names = [...Map.groupBy(seconds, (name) => name).values()];
  const shared = names.filter(({ length }) => length > 1 && length * 2 >= members.size);
  const areShared = shared.length > 0 && shared.length * 2 >= names.length;
  const isColumn = ({ path }: OpenedValue): boolean => path.slice(0, 2).some(isInput);
  return (
    leaves.length > 1 && leaves.every(({ opens }) => opens === '"') && !areShared && !leaves.some(isColumn)
  );
}

/** The paths of texts, without notes. */
export const textPaths = (shape: readonly OpenedValue[]): readonly (readonly string[])[] =>
  shape.flatMap(({ path, opens }) => (opens !== '"' || path.some((name) => NOTE.test(name)) ? [] : [path]));

/** A row for each text, with the columns `key` and `name`. Empty texts are not translated yet. */
export async function* textMembers(
  file: string,
  texts: AsyncIterable<string>,
  name: string,
): AsyncGenerator<JsonPiece> {
  let text = '';
  for await (const piece of texts) {
    text += piece;
    if (text.length > MAX_RECORD) throw tooLong({ file, line: 1 });
  }
  const read = readJson(text);
  if ('what' in read) throw problem('E103', { what: `this is not JSON: ${read.what}` }, { place: { file } });
  const lines = linesIn(text);
  for (const [path, value] of membersOf(read.value, []))
    if (value !== '') {
      const line = lines.get(JSON.stringify(path)) ?? 1;
      yield { text: JSON.stringify({ key: path.join('.'), [name]: value }), line, column: 1 };
    }
}

/** The line of each member, by its path. */
function linesIn(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  let [line, from] = [1, 0];
  for (const { path, at } of new JsonWalk().walk(text)) {
    line += text.slice(from, at).split('\n').length - 1;
    from = at;
    lines.set(JSON.stringify(path), line);
  }
  return lines;
}

type Member = readonly [path: readonly string[], value: unknown];

function* membersOf(value: unknown, path: readonly string[]): Generator<Member> {
  if (typeof value !== 'object' || value === null) yield [path, value];
  else
    for (const [name, inner] of Object.entries(value))
      if (!NOTE.test(name)) yield* membersOf(inner, [...path, name]);
}
