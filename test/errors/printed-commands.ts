// The commands in a printed text, as a user would copy them: a line of its own as a whole, and a command in a sentence up to
// the end of its part of the sentence.

import { spawnSync } from 'node:child_process';

/** The program, with variables before it. "a runsheet worker" is no command. */
const BEGIN =
  /(?<!\b(?:a|an|the|of) )(?<![\w/.-])(?:[A-Z_]+=(?:'[^']*'|[^\s'])+ )*(?:runsheet|node \S*bin\/runsheet\.mjs|temporal|chmod|kill(?= \d)) (?=[\w-])/;

const OWN_LINE = new RegExp(`^ +(?:[a-z ]+: +)?(?=${BEGIN.source})`);

/** The end of a command inside a sentence. */
const END = /^(?:;|: | \(|\)|`|\.(?:\s|$)|, | or (?!-)|: )/;

export function commandsIn(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const own = OWN_LINE.exec(line);
    return own === null ? inSentence(line) : [line.slice(own[0].length)];
  });
}

function inSentence(line: string): readonly string[] {
  const begin = BEGIN.exec(line);
  if (begin === null) return [];
  const tail = line.slice(begin.index);
  const length = lengthOf(tail);
  return [tail.slice(0, length).trim(), ...inSentence(tail.slice(length))];
}

/** Up to the first end that is not in quotes. */
function lengthOf(text: string): number {
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] ?? '';
    if (quote !== '') {
      if (sign === '\\' && quote === "$'") at += 1;
      else if (sign === quote.at(-1)) quote = '';
    } else if (sign === "'" || sign === '"') quote = sign === "'" && text[at - 1] === '$' ? "$'" : sign;
    else if (END.test(text.slice(at))) return at;
  }
  return text.length;
}

/** The words of each program call in a shell text, as bash reads them: `runsheet wait a && runsheet wait b` has two. */
export function wordsOf(command: string): readonly (readonly string[])[] {
  const script = `node() { shift; runsheet "$@"; }; runsheet() { printf '%s\\0' "$@"; printf '\\1\\0'; }\n${command}`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`bash does not read ${command}: ${stderr}`);
  return stdout
    .split('\u0001\0')
    .slice(0, -1)
    .map((words) => words.split('\0').slice(0, -1));
}
