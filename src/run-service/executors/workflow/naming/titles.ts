// Titles that a workflow's owner gave to nodes, and the inputs that they name.

import { isDisplay, isLiteral, rememberedFor, wordsOf, type GraphNode, type LiveGraph } from './graph.ts';
import { fileKindAt } from './loaded-files.ts';
import { hasLinks, carriedBy, type FieldPlace } from './values.ts';

export type Title = {
  readonly name: string;
  readonly places: readonly FieldPlace[];
  /** `input: word`, or the name in a vendor's input node, always wins and may join nodes. */
  readonly isExplicit: boolean;
  /** The name without its brackets, which may hold a unit. */
  readonly short?: string | undefined;
};

const TEXTS = ['text', 'prompt', 'string', 'value', 'default_value'] as const;
const SEEDS = ['seed', 'noise_seed', 'rand_seed', 'seed_num'] as const;
/** Default titles of one word that many kinds of nodes share. */
const NO_TITLE: ReadonlySet<string> = new Set('text int float string value number boolean combo'.split(' '));
const VENDOR = /^ComfyUIDeployExternal/;
const VENDOR_FIELDS = ['default_value', 'default_value_url'] as const;

/** The name in a title: lower case, without brackets, words joined by `_`. */
const nameIn = (title: string): string =>
  title
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '');

/** Words of a default title that its class does not have. */
const FILLERS: ReadonlySet<string> = new Set(
  'a as the of for and model models file node upload path from to with apply output outputs'.split(' '),
);
const stem = (word: string): string => word.replace(/(?:er|or|s)$/, '');
const letters = (text: string): string => wordsOf(text).join('');

/** The only default title with brackets that add nothing, on texts of either side. */
const OF_ANY_TEXT = /^clip text encode \(prompt\)$/i;

/** Whether a title says no more than its class, in any order: `Load CLIP Vision` for a `CLIPVisionLoader`. */
function repeatsClass(title: string, name: string): boolean {
  const own = wordsOf(title).filter((word) => !FILLERS.has(word));
  const words = new Set(wordsOf(name).map(stem));
  const flat = letters(name);
  // A single word, such as `image` for a LoadImage, was chosen by the owner.
  if (own.length < 2) return letters(title) === flat;
  return own.every((word) => words.has(stem(word)) || flat.includes(word));
}

export function titlesOf(graph: LiveGraph): readonly Title[] {
  const own = [...graph.live].flatMap((node) => titleOf(graph, node) ?? []);
  const explicit = [
    ...Map.groupBy(
      own.filter(({ isExplicit }) => isExplicit),
      ({ name }) => name,
    ),
  ].map(([name, titles]) => ({ name, places: titles.flatMap(({ places }) => places), isExplicit: true }));
  const plain = [
    ...Map.groupBy(
      own.filter(({ isExplicit }) => !isExplicit),
      ({ name }) => name,
    ),
  ]
    .filter(([, titles]) => titles.length === 1)
    .flatMap(([, titles]) => titles);
  return [...explicit, ...plain.filter(({ name }) => !explicit.some((title) => title.name === name))];
}

function titleOf(graph: LiveGraph, node: string): Title | undefined {
  const at = graph.nodes[node] as GraphNode;
  const vendor = at.inputs['input_id'];
  if (VENDOR.test(at.class_type) && typeof vendor === 'string') {
    const field = VENDOR_FIELDS.find((name) => isLiteral(at.inputs[name]));
    return field && { name: vendor, places: [{ node, field }], isExplicit: true };
  }
  const { _meta: meta } = at;
  const title = meta?.title?.trim();
  if (title === undefined || title === '') return undefined;
  const field = fieldMeant(graph, node, nameIn(title));
  if (field === undefined) return undefined;
  const [, word] = /^input:\s*(\S+)$/i.exec(title) ?? [];
  if (word !== undefined) return { name: word, places: [{ node, field }], isExplicit: true };
  const name = ownersName(graph, node, title);
  if (name === undefined) return undefined;
  const short = nameIn(title.replaceAll(/\([^()]*\)|\[[^\]]*\]/g, ' '));
  const isShorter = short !== '' && short !== name && name.startsWith(short);
  return { name, places: [{ node, field }], isExplicit: false, ...(isShorter && { short }) };
}

/** The title that the owner gave to a node, unchanged. */
export function ownTitleOf(graph: LiveGraph, node: string): string | undefined {
  const { _meta: meta } = graph.nodes[node] ?? {};
  const title = meta?.title?.trim();
  return title !== undefined && title !== '' && ownersName(graph, node, title) !== undefined
    ? title
    : undefined;
}

/** undefined for a title that ComfyUI gave. */
function ownersName(graph: LiveGraph, node: string, title: string): string | undefined {
  const { class_type: name } = graph.nodes[node] as GraphNode;
  const display = graph.classOf(node)?.displayName;
  const [, inBrackets] = /^.+?\s*\(([^()]+)\)$/.exec(title) ?? [];
  const isOfClass = (text: string): boolean =>
    repeatsClass(text, name) || (display !== undefined && letters(display) === letters(text));
  if (OF_ANY_TEXT.test(title) || isOfClass(title) || isSharedByClass(graph, node, title)) return undefined;
  const before = title.replace(/\s*\([^()]+\)$/, '');
  const own = nameIn(inBrackets !== undefined && isOfClass(before) ? inBrackets : title).replace(
    /^load_/,
    '',
  );
  return own === '' || NO_TITLE.has(own) ? undefined : own;
}

/** A title that all nodes of a class share is the default, in whatever language. */
function isSharedByClass(graph: LiveGraph, node: string, title: string): boolean {
  const { class_type: name } = graph.nodes[node] as GraphNode;
  const alike = titlesByClass(graph).get(name) ?? [];
  return alike.length > 1 && alike.every((sibling) => sibling === title);
}

/** The titles of all nodes of each class. */
const titlesByClass = rememberedFor(
  ({ nodes }: LiveGraph): ReadonlyMap<string, readonly (string | undefined)[]> => {
    const groups = Map.groupBy(Object.values(nodes), ({ class_type: name }) => name);
    return new Map(
      [...groups].map(([name, same]) => [name, same.map(({ _meta: meta }) => meta?.title?.trim())] as const),
    );
  },
);

/** The field that a title names: a field of that name, the only literal of a node without links, else its text, file or seed. */
function fieldMeant(graph: LiveGraph, node: string, title: string): string | undefined {
  const at = graph.nodes[node] as GraphNode;
  if (isDisplay(at)) return undefined;
  const literals = Object.keys(at.inputs).filter((field) => isLiteral(at.inputs[field]));
  const called = literals.find((field) => nameIn(field) === title);
  if (called !== undefined) return called;
  if (!hasLinks(at) && literals.length === 1) return literals[0];
  if (at.inputs['isfloatX'] !== undefined && at.inputs['Yi'] === undefined) return carriedBy(at, 0);
  const files = literals.filter((field) => fileKindAt(graph, { node, field }) !== undefined);
  if (files.length === 1) return files[0];
  const texts = TEXTS.filter((field) => isLiteral(at.inputs[field]));
  if (texts.length === 1) return texts[0];
  const isOfSeeds = wordsOf(at.class_type).some((word) => /^(?:seed|noise|random)/.test(word));
  return isOfSeeds ? SEEDS.find((field) => literals.includes(field)) : undefined;
}
