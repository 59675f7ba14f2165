// Finds the position of an error in a JSON text, and the positions of its members. V8 does not always report a position, so
// this file walks the tokens. It runs only on malformed texts and for places in messages.

/** Deeper nesting is refused, because recursive code could overflow the stack. */
export const MOST_DEPTH = 64;

/** `at` counts UTF-16 units from the text's beginning; a `malformed` text is not JSON. */
export type JsonFault = { readonly at: number; readonly what: string; readonly malformed: boolean };

/** The first error of a text; undefined if it is valid. */
export function faultOf(text: string): JsonFault | undefined {
  const open: Open = [];
  let expected: Expected = 'a value';
  for (const token of tokensOf(text)) {
    const fault = faultAt(text, token, expected, open);
    if (fault) return fault;
    expected = expectedAfter(token.word, expected, open);
  }
  return undefined;
}

type Member = { readonly name: string; readonly at: number; readonly from: number; readonly to: number };

/** The members of the object in a valid text, with the positions of names and values. */
export function* membersIn(text: string): Generator<Member> {
  let depth = 0;
  let open: { readonly name: string; readonly at: number; from?: number } | undefined;
  let to = 0;
  for (const { word, at } of tokensOf(text)) {
    if (depth === 1 && (word === ',' || word === '}')) {
      if (open?.from !== undefined) yield { name: open.name, at: open.at, from: open.from, to };
      open = undefined;
    } else if (depth === 1 && open === undefined) open = { name: nameIn(word), at };
    else if (depth === 1 && word !== ':' && open) open.from ??= at;
    if (word === '{' || word === '[') depth += 1;
    if (word === '}' || word === ']') depth -= 1;
    to = at + word.length;
  }
}

type Token = { readonly word: string; readonly at: number };

/** The sets of names of the objects that are open, outermost first; undefined for an open array. */
type Open = (Set<string> | undefined)[];

const BEGINNINGS = {
  'a value': /^[{["\w-]/,
  'a value or ]': /^[{["\w\]-]/,
  'a name in quotes': /^"/,
  'a name in quotes or }': /^["}]/,
  'a colon': /^:/,
  'a comma or }': /^[,}]/,
  'a comma or ]': /^[,\]]/,
  'the end': /^$/,
} as const;

type Expected = keyof typeof BEGINNINGS;

const WORDS = [
  String.raw`[{}[\],:]`,
  // oxlint-disable-next-line no-control-regex
  /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\u0000-\u001f]*)*"/.source,
  /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/.source,
  /(?:true|false|null)(?!\w)/.source,
];
const TOKEN = new RegExp(`([ \\t\\r\\n]*)(${WORDS.join('|')})?`, 'y');

/** The tokens in order, then one with an empty word at the end of the text or at an invalid token. */
function* tokensOf(text: string): Generator<Token> {
  let next = 0;
  for (;;) {
    TOKEN.lastIndex = next;
    const [, space = '', word = ''] = TOKEN.exec(text) ?? [];
    const at = next + space.length;
    yield { word, at };
    if (word === '') return;
    next = at + word.length;
  }
}

function faultAt(text: string, { word, at }: Token, expected: Expected, open: Open): JsonFault | undefined {
  if (open.length > MOST_DEPTH)
    return { at, what: `it is nested deeper than ${MOST_DEPTH}`, malformed: false };
  if (!BEGINNINGS[expected].test(word) || (expected === 'the end' && at < text.length))
    return { at, what: `expected ${expected}, found ${found(text, at)}`, malformed: true };
  const again = word.startsWith('"') && names(expected) && open.at(-1)?.has(nameIn(word));
  return again ? { at, what: `the name ${word} occurs twice in one object`, malformed: false } : undefined;
}

function found(text: string, at: number): string {
  if (at >= text.length) return 'the end';
  if (text[at] === '"') return 'a string that is not closed or contains a forbidden character';
  return /^[\w+.-]+|./su.exec(text.slice(at, at + 20))?.[0] ?? '';
}

const names = (expected: Expected): boolean => expected.startsWith('a name');
const nameIn = (word: string): string => JSON.parse(word) as string;

function expectedAfter(word: string, expected: Expected, open: Open): Expected {
  if (word === '{') return (open.push(new Set()), 'a name in quotes or }');
  if (word === '[') return (open.push(undefined), 'a value or ]');
  if (word === ':') return 'a value';
  if (word === ',') return open.at(-1) ? 'a name in quotes' : 'a value';
  if (names(expected) && word !== '}') return (open.at(-1)?.add(nameIn(word)), 'a colon');
  if (word === '}' || word === ']') open.pop();
  if (open.length === 0) return 'the end';
  return open.at(-1) ? 'a comma or }' : 'a comma or ]';
}
