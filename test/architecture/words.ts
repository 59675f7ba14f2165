// Counts the words of the tree that a reader stumbles over: node test/architecture/words.ts [src/batch …] names each place.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BindingPattern,
  type BindingRestElement,
  type ParamPattern,
  parseSync,
  Visitor,
} from 'oxc-parser';

const ROOT = join(import.meta.dirname, '..', '..');

export const TREE = ['src', 'workflows', 'activities', 'bin', 'bench', 'test'];

/** Words that no comment begins with: its reader does not know yet what they stand for. */
const PRONOUNS = new Set(
  'all another as both by it its none of one ones other others so such that their them these they this those what which who whose'.split(
    ' ',
  ),
);

/** Names that say nothing: they stand for whatever a statement before has found or been given. */
const PRONOUN_NAMES = new Set(
  'all asked found given known mine one ones other others ours rest theirs them there these those'.split(' '),
);

export type Place = { readonly file: string; readonly line: number; readonly text: string };

export type Words = {
  readonly comments: readonly Place[];
  readonly names: readonly Place[];
  readonly headers: readonly Place[];
  readonly types: readonly Place[];
};

export const filesOf = (folders: readonly string[]): readonly string[] =>
  folders.flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx,mjs}`, { cwd: ROOT })).toSorted();

/** `types`: every declaration of a type or interface, wherever it is. */
export function wordsOf(file: string, text = readFileSync(join(ROOT, file), 'utf8')): Words {
  const { program, comments } = parseSync(file, text);
  const place = ({ start }: { readonly start: number }, said: string): Place => ({
    file,
    line: text.slice(0, start).split('\n').length,
    text: said,
  });
  const names: Place[] = [];
  const types: Place[] = [];
  const addBindings = (patterns: readonly (BindingPattern | ParamPattern)[]): void => {
    for (const name of patterns.flatMap(bindingsOf))
      if (PRONOUN_NAMES.has(name.name)) names.push(place(name, name.name));
  };
  new Visitor({
    VariableDeclarator: ({ id }) => addBindings([id]),
    FunctionDeclaration: ({ params }) => addBindings(params),
    FunctionExpression: ({ params }) => addBindings(params),
    ArrowFunctionExpression: ({ params }) => addBindings(params),
    TSTypeAliasDeclaration: ({ id }) => void types.push(place(id, id.name)),
    TSInterfaceDeclaration: ({ id }) => void types.push(place(id, id.name)),
  }).visit(program);
  const blocks = blocksIn(text, comments);
  return {
    comments: blocks.filter(({ first }) => PRONOUNS.has(first)).map((block) => place(block, block.said)),
    names,
    headers: blocks.filter(({ isHeader }) => isHeader).map((block) => place(block, block.said)),
    types,
  };
}

type Identifier = { readonly name: string; readonly start: number };

/** The identifiers that a pattern binds. */
function bindingsOf(node: BindingPattern | BindingRestElement | ParamPattern | null): readonly Identifier[] {
  if (node === null) return [];
  switch (node.type) {
    case 'Identifier':
      return [node];
    case 'ObjectPattern':
      return node.properties.flatMap((part) => bindingsOf(part.type === 'RestElement' ? part : part.value));
    case 'ArrayPattern':
      return node.elements.flatMap(bindingsOf);
    case 'AssignmentPattern':
      return bindingsOf(node.left);
    case 'RestElement':
      return bindingsOf(node.argument);
    case 'TSParameterProperty':
      return bindingsOf(node.parameter);
  }
}

type Comment = {
  readonly type: string;
  readonly value: string;
  readonly start: number;
  readonly end: number;
};
type Block = {
  readonly start: number;
  readonly said: string;
  readonly first: string;
  readonly isHeader: boolean;
};

/** Comments with the lines that go on with them. A header stands alone at the margin, below the top of its file. */
function blocksIn(text: string, comments: readonly Comment[]): readonly Block[] {
  const blocks: Comment[] = [];
  for (const comment of comments) {
    const last = blocks.at(-1);
    const goesOn =
      last?.type === 'Line' && comment.type === 'Line' && /^\n *$/.test(text.slice(last.end, comment.start));
    if (goesOn)
      blocks[blocks.length - 1] = { ...last, value: `${last.value} ${comment.value}`, end: comment.end };
    else blocks.push(comment);
  }
  return blocks.map(({ type, value, start, end }) => {
    const said = value
      .replaceAll(/\s*\n?\s*\*?\s+/g, ' ')
      .replace(/^[*\s]+/, '')
      .trim();
    const [first = ''] = said.toLowerCase().split(/[^a-z'`-]/);
    const isAlone = type === 'Line' && /(^|\n)$/.test(text.slice(0, start)) && text.startsWith('\n\n', end);
    return {
      start,
      said: said.slice(0, 90),
      first,
      isHeader: isAlone && start > 2 && !text.startsWith('#!'),
    };
  });
}

/** Names of types that stand in four files or more. */
export function sharedTypes(types: readonly Place[]): ReadonlyMap<string, readonly string[]> {
  const files = Map.groupBy(types, ({ text }) => text);
  return new Map(
    [...files]
      .map(([name, places]) => [name, [...new Set(places.map(({ file }) => file))]] as const)
      .filter(([, places]) => places.length >= 4),
  );
}

if (process.argv[1] === import.meta.filename) {
  const folders = process.argv.length > 2 ? process.argv.slice(2) : TREE;
  const words = filesOf(folders).map((file) => wordsOf(file));
  for (const kind of ['comments', 'names', 'headers'] as const) {
    const places = words.flatMap((file) => file[kind]);
    if (process.argv.length > 2)
      for (const { file, line, text } of places) console.log(`${kind} ${file}:${line} ${text}`);
    console.log(`${kind}: ${places.length}`);
  }
  const shared = sharedTypes(words.flatMap(({ types }) => types));
  for (const [name, files] of shared) console.log(`type ${name}: ${files.join(' ')}`);
  console.log(`types: ${shared.size}`);
}
