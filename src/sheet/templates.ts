// Templates: constants with cells of their row, `--set 'prompt=a photo of {product} [in {style} style]'`. A part in brackets is left out
// where one of its cells is empty. `{{` and `}}` are literal braces, `[[` and `]]` literal brackets around a cell; braces around anything
// but a word, such as `{red|blue}`, and brackets without a cell are text.

import { list, nearest, problem } from '../errors/error.ts';
import { plainName } from './guesses/guess.ts';

/** Texts, columns by index, and optional parts. */
export type Template = readonly (TemplatePart | OptionalPart)[];
type TemplatePart = string | number;
type OptionalPart = { readonly optional: readonly TemplatePart[] };

const BRACES = /\{\{|\}\}|\{([^{}]+)\}/g;
const WORD = /^[\p{L}_][\p{L}\p{N}_]*$/u;
const BRACKETS = /\[\[([^[\]]*)\]\]|\[([^[\]]*)\]/g;

/**
 * A text without columns is one part, or none. `hasOptionalParts`: false for batches made before brackets meant anything. Throws E602 for
 * a word in braces that is no column; `by` names the option.
 */
export function templateIn(
  text: string,
  by: string,
  names: readonly string[],
  hasOptionalParts = false,
): Template {
  const partsOf = (piece: string): readonly TemplatePart[] => partsIn(piece, by, names);
  if (!hasOptionalParts) return partsOf(text);
  const template: (TemplatePart | OptionalPart)[] = [];
  let from = 0;
  for (const { 0: group, 1: literal, 2: inner = '', index } of text.matchAll(BRACKETS)) {
    if (namesInTemplates([group], names).size === 0) continue;
    template.push(...partsOf(text.slice(from, index)));
    if (literal === undefined) template.push({ optional: partsOf(inner) });
    else template.push(...partsOf(`[${literal}]`));
    from = index + group.length;
  }
  return [...template, ...partsOf(text.slice(from))];
}

function partsIn(text: string, by: string, names: readonly string[]): readonly TemplatePart[] {
  const parts: TemplatePart[] = [];
  let from = 0;
  for (const { 0: braces, 1: name, index } of text.matchAll(BRACES)) {
    const column = name === undefined ? undefined : columnOf(name.trim(), names);
    if (name !== undefined && column === undefined && WORD.test(name)) throw noColumn(name, by, names);
    parts.push(text.slice(from, index), column ?? (name === undefined ? braces.slice(1) : braces));
    from = index + braces.length;
  }
  return [...parts, text.slice(from)].filter((part) => part !== '');
}

/** Whether brackets of these texts have to be read. */
export const haveOptionalParts = (texts: readonly string[]): boolean =>
  texts.some((text) => [...text.matchAll(BRACKETS)].some(([group]) => /\{[^{}]+\}/.test(group)));

/** The columns of a template, once each. `isNeeded`: those outside of its optional parts. */
export function columnsIn(template: Template, { isNeeded = false } = {}): readonly number[] {
  const parts = template.flatMap((part) =>
    typeof part === 'object' ? (isNeeded ? [] : part.optional) : [part],
  );
  return [...new Set(parts.filter((part) => typeof part === 'number'))];
}

/** The column whose cell is the whole template. */
export const cellIn = (template: Template): number | undefined =>
  template.length === 1 && typeof template[0] === 'number' ? template[0] : undefined;

/** The template as text, with `{product}` for a column. */
export function templateText(template: Template, nameOf: (column: number) => string): string {
  const textOf = (part: TemplatePart): string => (typeof part === 'number' ? `{${nameOf(part)}}` : part);
  return template
    .map((part) => (typeof part === 'object' ? `[${part.optional.map(textOf).join('')}]` : textOf(part)))
    .join('');
}

/**
 * The text with brackets around these columns, which may be empty then. The separator beside a column goes into its brackets:
 * `{name}[, {note}]`.
 */
export function withOptional(text: string, columns: ReadonlySet<number>, names: readonly string[]): string {
  const groups = [...text.matchAll(BRACKETS)].map(({ 0: group, index }) => [index, index + group.length]);
  const parts = [...text.matchAll(BRACES)].flatMap(({ 0: braces, 1: name, index: from }) => {
    const column = name === undefined ? undefined : columnOf(name.trim(), names);
    const isInside = groups.some(([begin = 0, end = 0]) => from >= begin && from < end);
    const isOptional = column !== undefined && !isInside && columns.has(column);
    return column === undefined ? [] : [{ from, end: from + braces.length, isOptional }];
  });
  const isSeparator = (from: number, end: number): boolean => SEPARATOR.test(text.slice(from, end));
  const written: string[] = [];
  let at = 0;
  for (const [nth, { from, end, isOptional }] of parts.entries()) {
    if (!isOptional) continue;
    const [before, next] = [parts[nth - 1]?.end, parts[nth + 1]?.from];
    // The first parts take the separator after them.
    const isBehind = parts.slice(0, nth).some((part) => !part.isOptional);
    const begin =
      isBehind && before !== undefined && before >= at && isSeparator(before, from) ? before : from;
    const close = !isBehind && next !== undefined && isSeparator(end, next) ? next : end;
    written.push(text.slice(at, begin), '[', text.slice(begin, close), ']');
    at = close;
  }
  return written.join('') + text.slice(at);
}

/** Marks and blanks between two cells. */
const SEPARATOR = /^[\s,;:.|/+&·•–—-]+$/u;

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
