// The commands of a page as a reader pastes them: the lines of its blocks, and what stands between backticks in its text.

/** Blocks with commands have one of these languages, or none. */
const SHELL: ReadonlySet<string> = new Set(['', 'sh', 'bash', 'console']);
const COMMAND =
  /^(?:[A-Z_]+=\S* )*(?:runsheet|node|npm|npx|export|alias|temporal|openssl|docker|rs|\w+=\$\(|~\/\S*temporal) ?/;

/** In the order of the page; a line that is continued is one command, and comments are none. */
export function pastedFrom(page: string): readonly string[] {
  const parts = page.matchAll(
    /^ *```(\w*)\n([\s\S]*?)^ *```$|`((?:node bin\/runsheet\.mjs|runsheet) [^`\n]+)`/gm,
  );
  return [...parts].flatMap(([, language, block, inText]) => {
    if (inText !== undefined) return [inText];
    return language !== undefined && SHELL.has(language) ? linesOf(block ?? '') : [];
  });
}

const linesOf = (block: string): readonly string[] =>
  block
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.trim().replace(/^\$ /, ''))
    .filter((line) => COMMAND.test(line));

/** The first block of this language whose text has this. */
export function blockWith(page: string, language: string, part: string): string {
  const blocks = page.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm);
  const match = [...blocks].find(([, , of, text = '']) => of === language && text.includes(part));
  if (match === undefined) throw new Error(`the page has no block with ${part}`);
  const [, indent = '', , text = ''] = match;
  return text.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}
