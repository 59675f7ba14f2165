// Writes the types of options for programs, from the table.

import { LIMITS } from '../../src/options/limits.ts';
import { optionsOf, type AnyOption, type OptionKind } from '../../src/options/table.ts';

/** A union that is too long for a line has a line for each choice. */
const broken = (line: string): string =>
  line.length <= 110 ? line : line.replace(': ', ':\n    | ').replaceAll(/(?<=') \| (?=')/g, '\n    | ');

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' | ');

/** The TypeScript type in which a program writes an option of this kind. */
function typeOf(kind: OptionKind): string {
  switch (kind.type) {
    case 'concurrency':
      return "number | 'auto' | `auto:${number}`";
    case 'rowsOrShare':
      return 'number | `${number}%`';
    case 'count':
    case 'money':
      return 'number';
    case 'moment':
      return 'Date';
    case 'span':
      return 'Duration';
    case 'countBy':
      return `Readonly<Partial<Record<${kind.noun === 'GPU' ? 'Gpu' : 'FailureKind'}, number>>>`;
    case 'choice':
      return quoted(kind.words);
    case 'flag':
      return 'boolean';
    case 'texts':
    case 'targets':
      return 'readonly string[]';
    case 'pairs':
      return `Readonly<Record<string, ${kind.words === undefined ? 'string' : quoted(kind.words)}>>`;
    case 'axes':
      return 'Readonly<Record<string, string | readonly (string | number)[]>>';
    case 'repeat':
      return 'number | string';
    case 'rowOrNone':
      return "number | 'none'";
    case 'rowRanges':
      return 'readonly RowRange[]';
    case 'unconfirmed':
      return "'unknown' | 'ask' | 'fail' | `resubmit-after=${Duration}`";
    case 'named':
    case 'text':
      return 'string';
  }
}

/** Help names flags; a program has options of the same words. */
const inProgram = (text: string): string =>
  text.replaceAll(/--([a-z-]+)/g, (_, name: string) => {
    const option = name.replaceAll(/-([a-z])/g, (__, letter: string) => letter.toUpperCase());
    return `\`${option}\``;
  });

function memberOf(option: string, { kind, help, usual, removable }: AnyOption): string {
  const text = inProgram(help.charAt(0).toUpperCase() + help.slice(1));
  const fallback = usual === undefined || usual === 'required' ? '' : ` (default: ${inProgram(usual)})`;
  const optional = usual === 'required' ? '' : '?';
  return [
    `  /** ${text}${fallback}. */`,
    broken(`  readonly ${option}${optional}: ${typeOf(kind)}${removable ? ' | null' : ''};`),
  ].join('\n');
}

function interfaceOf(
  about: string,
  name: string,
  options: readonly (readonly [string, AnyOption])[],
): string {
  const members = options.map(([option, row]) => memberOf(option, row)).join('\n');
  return `/** ${about} */\nexport interface ${name} {\n${members}\n}\n`;
}

export function programTypes(): string {
  const options = optionsOf('program');
  const isLimit = (option: string): boolean => Object.hasOwn(LIMITS, option);
  const isReading = ({ group }: AnyOption): boolean => group === 'reading' || group === 'order';
  return `// Written by npm run docs, from the table of options.

import type { RowRange } from './batch-kinds.ts';
import type { FailureKind } from './facts/failure-kind.ts';
import type { Gpu } from './facts/gpu.ts';

/** How long: milliseconds, or a number with its unit. */
export type Duration = number | \`\${number}\${'ms' | 's' | 'm' | 'h' | 'd'}\`;

${interfaceOf(
  'Limits that may change while a batch runs. In a running batch, `null` removes a limit.',
  'Limits',
  options.filter(([option]) => isLimit(option)),
)}
${interfaceOf(
  'How to read a sheet that is a file, and in which order its rows are sent.',
  'ReadingOptions',
  options.filter(([, row]) => isReading(row)),
)}
${interfaceOf(
  'What a new batch is, and how it runs.',
  'BatchOptions',
  options.filter(([option, row]) => !isLimit(option) && !isReading(row)),
).replace('BatchOptions {', 'BatchOptions extends Limits, ReadingOptions {')}`;
}
