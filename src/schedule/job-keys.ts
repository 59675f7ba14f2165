// The keys of a job file, which take the place of flags.

import { flagOf } from '../options/written-options.ts';
import type { Wording } from '../batches/questions.ts';
import type { RunsheetError } from '../errors/error.ts';
import { shellWord } from '../errors/outside-text.ts';
import { OPTIONS } from '../options/table.ts';

const keyOf = (flag: string): string => flag.replace(/^--(?:no-)?/, '').replaceAll('-', '_');

const FLAGS: ReadonlySet<string> = new Set(
  Object.keys(OPTIONS)
    .map(flagOf)
    .filter((flag) => flag !== '--accept-files'),
);

/** `--drop note` is `drop = "note"`. */
const linesOf = (words: readonly string[]): string => {
  const lines = new Map<string, string[] | boolean>();
  for (const [at, word] of words.entries()) {
    if (!word.startsWith('--')) continue;
    const [key, value, before] = [keyOf(word), words[at + 1], lines.get(keyOf(word))];
    if (value === undefined || value.startsWith('--')) lines.set(key, !word.startsWith('--no-'));
    else lines.set(key, [...(Array.isArray(before) ? before : []), value]);
  }
  return [...lines]
    .map(([key, value]) => {
      const shown = Array.isArray(value) && value.length === 1 ? value[0] : value;
      return `${key} = ${JSON.stringify(shown)}`;
    })
    .join(', ');
};

/** Only a command can accept files: a job may be a stranger's. */
export const ACCEPT_FILES = '--accept-files';

/** A job answers questions in its file. */
export const asKeys =
  (job: string): Wording =>
  ({ flags }, assumed) => {
    const answers = [...flags, ...assumed];
    const keys = linesOf(answers.filter(([flag]) => flag !== ACCEPT_FILES).flat());
    const apply = `runsheet schedule apply ${ACCEPT_FILES} ${shellWord(job)}`;
    return [
      ...(keys === '' ? [] : [`${keys} in ${job}, above [schedule]`]),
      ...(answers.some(([flag]) => flag === ACCEPT_FILES) ? [apply] : []),
    ].join('; then: ');
  };

const WORD = /'([^']*)'|(\S+)/g;

const inKeys = (text: string): string =>
  text
    .replaceAll(/(?<=: )--[^;\n]*/g, (flags) =>
      linesOf([...flags.matchAll(WORD)].map(([, quoted, plain]) => quoted ?? plain ?? '')),
    )
    .replaceAll(/--[a-z][a-z-]*/g, (flag) => (FLAGS.has(flag) ? keyOf(flag) : flag));

type Told = Pick<RunsheetError, 'code' | 'message' | 'hint' | 'place'>;

/** The error with the keys of the job in the place of flags. */
export function aboutJob({ code, message, hint, place }: Told, job: string): Told {
  const [what, help] = [inKeys(message), hint === undefined ? undefined : inKeys(hint)];
  const isNamed = `${what}${help}`.includes(job);
  const isChanged = !isNamed && (what !== message || help !== hint);
  const where = `see ${job}, above [schedule]`;
  return { code, message: what, place, hint: isChanged ? [help, where].filter(Boolean).join('; ') : help };
}
