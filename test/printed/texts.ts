// Every place of the product that prints a command: a literal that contains one, or a call that builds one from its verb.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { application } from '../../src/cli/command-list.ts';
import { ROOT } from '../source-imports.ts';

export type PrintedText = {
  readonly file: string;
  readonly line: number;
  /** The text as the source has it, with `…` for each substitution. */
  readonly text: string;
};

type SyntaxNode = { readonly type: string; readonly start: number } & Readonly<Record<string, unknown>>;

/** Functions that build a command from a verb, which is the argument at this position. */
const BUILDERS: Readonly<Record<string, number>> = { nextCommand: 0, sameCommand: 1 };

const VERBS = (
  application.root as unknown as { getAllEntries: () => readonly { name: { original: string } }[] }
)
  .getAllEntries()
  .map(({ name }) => name.original);

/** A command of ours; in prose the program's name stands alone or before another word. */
const COMMAND = new RegExp(String.raw`(?<!\b(?:a|an|the|of) )\brunsheet (?:${VERBS.join('|')}|…)(?![\w-])`);

/** Places whose text is no hint: the shell's completion, and the mark of the generator in a page. */
const NO_HINT = /^src\/(?:cli\/completion|results\/page\/page-source)/;

export function printedTexts(): readonly PrintedText[] {
  const files = globSync(['src/**/*.{ts,tsx}', 'workflows/**/*.ts', 'activities/**/*.ts'], { cwd: ROOT });
  return files
    .filter((file) => !NO_HINT.test(file))
    .toSorted()
    .flatMap(textsOf);
}

function textsOf(file: string): readonly PrintedText[] {
  const source = readFileSync(join(ROOT, file), 'utf8');
  if (!/runsheet|nextCommand|sameCommand/.test(source)) return [];
  const texts: PrintedText[] = [];
  const lineOf = (at: number): number => source.slice(0, at).split('\n').length;
  visit(parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }), (node) => {
    const text = textOf(node);
    if (text === undefined || !COMMAND.test(text)) return false;
    texts.push({ file, line: lineOf(node.start), text });
    return true;
  });
  return texts;
}

/** The text of a literal, the command that a call builds, or a line of a label and a command. */
function textOf(node: SyntaxNode): string | undefined {
  if (node.type === 'ArrayExpression') {
    const [label, command] = node['elements'] as readonly (SyntaxNode | null)[];
    const text = label?.type === 'Literal' && command ? textOf(command) : undefined;
    return text?.startsWith('runsheet ') ? `  ${String(label?.['value'])} ${text}` : undefined;
  }
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value'];
  if (node.type === 'TemplateLiteral') {
    const quasis = node['quasis'] as readonly { readonly value: { readonly cooked: string } }[];
    return quasis.map(({ value }) => value.cooked).join('…');
  }
  if (node.type !== 'CallExpression') return undefined;
  const position = BUILDERS[(node['callee'] as SyntaxNode)['name'] as string];
  const verb = position === undefined ? undefined : (node['arguments'] as readonly SyntaxNode[])[position];
  if (verb === undefined) return undefined;
  return `runsheet ${verb.type === 'Literal' ? String(verb['value']) : '…'}`;
}

/** Walks the tree, and skips the inside of a node that was used. */
function visit(node: unknown, isUsed: (node: SyntaxNode) => boolean): void {
  if (Array.isArray(node)) for (const child of node) visit(child, isUsed);
  else if (typeof node === 'object' && node !== null) {
    if ('type' in node && isUsed(node as SyntaxNode)) return;
    for (const child of Object.values(node)) visit(child, isUsed);
  }
}
