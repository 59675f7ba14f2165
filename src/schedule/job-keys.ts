// The keys of a job file, which take the place of flags.

import { flagOf } from '../options/written-options.ts';
import type { Wording } from '../batches/questions.ts';
import type { RunsheetError } from '../errors/error.ts';
import { TRIGGER } from '../batches/question-texts.ts';
import { shellWord } from '../errors/outside-text.ts';
import { OPTIONS } from '../options/table.ts';

const keyOf = (flag: string): string => flag.replace(/^--(?:no-)?/, '').replaceAll('-', '_');

const FLAGS: ReadonlySet<string> = new Set(
  Object.keys(OPTIONS)
    .map(flagOf)
    .filter((flag) => flag !== '--accept-files'),
);

/** Values that the job has already: a key stands in a file once, so a further value is written together with those. */
export type JobValues = {
  readonly set?: Pairs;
  readonly map?: Pairs;
  readonly types?: Pairs;
  readonly drop?: readonly string[] | undefined;
  readonly fillDown?: readonly string[] | undefined;
};

type Pairs = Readonly<Record<string, unknown>>;

const PAIRS: ReadonlySet<string> = new Set(['set', 'map', 'type']);

/** Whole lines of TOML: `--drop note` is `drop = "note"`. A comment says which line of the job a line replaces. */
function linesOf(words: readonly string[], own: JobValues = {}): readonly string[] {
  const values = new Map<string, readonly string[] | boolean>();
  for (const [at, word] of words.entries()) {
    if (!word.startsWith('--')) continue;
    const [key, value, before] = [keyOf(word), words[at + 1], values.get(keyOf(word))];
    if (value === undefined || value.startsWith('--')) values.set(key, !word.startsWith('--no-'));
    else values.set(key, [...(Array.isArray(before) ? (before as readonly string[]) : []), value]);
  }
  return [...values].map(([key, value]) => {
    const before = ownOf(key, own);
    const isReplaced = Object.keys(before).length > 0;
    return `${key} = ${tomlOf(key, value, before)}${isReplaced ? ` # in place of the line ${key}` : ''}`;
  });
}

const ownOf = (key: string, { set, map, types, drop, fillDown }: JobValues): Pairs | readonly string[] =>
  ({ set, map, type: types, drop, fill_down: fillDown })[key] ?? {};

function tomlOf(key: string, value: readonly string[] | boolean, own: Pairs | readonly string[]): string {
  if (typeof value === 'boolean') return String(value);
  if (!PAIRS.has(key)) {
    const texts = Array.isArray(own) ? [...new Set([...(own as readonly string[]), ...value])] : value;
    return JSON.stringify(texts.length === 1 ? texts[0] : texts);
  }
  const pairs = new Map<string, unknown>(Object.entries(own));
  for (const pair of value) pairs.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
  const members = [...pairs].map(([name, text]) => `${tomlKey(name)} = ${JSON.stringify(text)}`);
  return `{ ${members.join(', ')} }`;
}

const tomlKey = (name: string): string => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name));

/** Only a command can accept files: a job may be a stranger's. */
export const ACCEPT_FILES = '--accept-files';

/** The schedule of a job. */
const nameOf = (job: string): string => job.replace(/^.*[/\\]/, '').replace(/\.job\.toml$/, '');

/**
 * A job answers questions in its file. Rows that a batch still sends are never bought again because a file says so: the next firing
 * reuses them.
 */
export const asKeys =
  (job: string, own?: JobValues): Wording =>
  ({ flags }, assumed) => {
    const answers = [...flags, ...assumed];
    if (answers.some(([flag]) => flag === '--again')) return `${TRIGGER} ${shellWord(nameOf(job))}`;
    const lines = linesOf(answers.filter(([flag]) => flag !== ACCEPT_FILES).flat(), own);
    const accept = answers.some(([flag]) => flag === ACCEPT_FILES) ? `${ACCEPT_FILES} ` : '';
    const apply = `runsheet schedule apply ${accept}${shellWord(job)} --yes`;
    return lines.length === 0
      ? apply
      : `in ${job}, above [schedule]:\n  ${lines.join('\n  ')}\nthen:\n  ${apply}`;
  };

const WORD = /'([^']*)'|(\S+)/g;

const inKeys = (text: string, own: JobValues | undefined): string =>
  text
    .replaceAll(/(?<=: )--[^;\n]*/g, (flags) => {
      const words = [...flags.matchAll(WORD)].map(([, quoted, plain]) => quoted ?? plain ?? '');
      const lines = linesOf(words, own);
      return lines.length === 1 ? (lines[0] ?? '') : lines.map((line) => `\n  ${line}`).join('');
    })
    .replaceAll(/--[a-z][a-z-]*/g, (flag) => (FLAGS.has(flag) ? keyOf(flag) : flag));

type JobProblem = Pick<RunsheetError, 'code' | 'message' | 'hint' | 'place'>;

/** The error with the keys of the job in the place of flags. */
export function aboutJob(
  { code, message, hint, place }: JobProblem,
  job: string,
  own?: JobValues,
): JobProblem {
  const [what, help] = [inKeys(message, own), hint === undefined ? undefined : inKeys(hint, own)];
  const isNamed = `${what}${help}`.includes(job);
  const isChanged = !isNamed && (what !== message || help !== hint);
  const where = `see ${job}, above [schedule]`;
  return { code, message: what, place, hint: isChanged ? [help, where].filter(Boolean).join('; ') : help };
}
