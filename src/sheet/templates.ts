// Templates: constants with cells of their row, `--set 'prompt=a photo of {product} in {style}'`. `{{` and
// `}}` are literal braces; braces around anything but a word, such as `{red|blue}`, are text.

import { list, nearest, problem } from '../errors/error.ts';
import { plainName } from './guesses/guess.ts';

/** Texts, and columns by index. */
export type Template = readonly (string | number)[];

const BRACES = /\{\{|\}\}|\{([^{}]+)\}/g;
const WORD = /^[\p{L}_][\p{L}\p{N}_]*$/u;

/** A text without columns is one part, or none. Throws E602 for a word in braces that is no column; `by` names the option. */
export function templateIn(text: string, by: string, names: readonly string[]): Template {
  const parts: (string | number)[] = [];
  let from = 0;
  for (const { 0: braces, 1: name, index } of text.matchAll(BRACES)) {
    const column = name === undefined ? undefined : columnOf(name.trim(), names);
    if (name !== undefined && column === undefined && WORD.test(name)) throw noColumn(name, by, names);
    parts.push(text.slice(from, index), column ?? (name === undefined ? braces.slice(1) : braces));
    from = index + braces.length;
  }
  return [...parts, text.slice(from)].filter((part) => part !== '');
}

/** The names of the columns that templates take. */
export const namesInTemplates = (
  set: Readonly<Record<string, string>> | readonly string[],
  names: readonly string[],
): ReadonlySet<string> =>
  new Set(
    Object.values(set).flatMap((text) =>
      [...text.matchAll(BRACES)].flatMap(({ 1: name }) => {
        const column = name === undefined ? undefined : columnOf(name.trim(), names);
        return column === undefined ? [] : [names[column] as string];
      }),
    ),
  );

function columnOf(name: string, names: readonly string[]): number | undefined {
  const exact = names.indexOf(name);
  const at = exact < 0 ? names.findIndex((candidate) => plainName(candidate) === plainName(name)) : exact;
  return at < 0 ? undefined : at;
}

function noColumn(name: string, by: string, names: readonly string[]): Error {
  const near = nearest(name, names);
  return problem('E602', {
    what: `${by}: the sheet has no column "${name}"`,
    hint: `${near === undefined ? '' : `did you mean {${near}}? `}columns: ${list(names)}; for braces as text: {{${name}}}`,
  });
}
