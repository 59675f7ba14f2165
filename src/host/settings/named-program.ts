// A program as its user named it: the command with absolute paths, the environment of that moment, and the
// content of the files that the command names. Kept in the state folder, so that the run service gets an id and
// never a command:
//
//      --program 'python gen.py' ──named──▶ <home>/programs/<id>.json ──id──▶ the run service reads it

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { errorMessage, problem, type RunsheetError } from '../../errors/error.ts';
import { canonical } from '../formats/canonical-json.ts';
import { exactText, parseExactly } from '../formats/exact-json.ts';
import { readPlainFile } from '../plain-file.ts';
import { replaceFile } from '../replace-file.ts';
import type { Environment } from '../user-folders.ts';

const namedProgramSchema = z.strictObject({
  name: z.string().min(1).max(100),
  command: z.string().min(1),
  /** Whether a process stays for one run after another; else each run has its own. */
  stays: z.literal(true).optional(),
  folder: z.string(),
  environment: z.record(z.string(), z.string()),
  secrets: z.array(z.string()),
  files: z.record(z.string(), z.string()),
  /** The JSON Schema of the inputs; null if nothing describes them. */
  inputs: z.record(z.string(), z.unknown()).nullable(),
  runTimeoutSeconds: z.number().positive(),
});
export type NamedProgram = Readonly<z.output<typeof namedProgramSchema>>;

export type ProgramRequest = {
  readonly command: string;
  /** Default: the name of the script. */
  readonly name?: string | undefined;
  /** The folder in which relative paths of the command are found. */
  readonly folder: string;
  readonly stays?: boolean | undefined;
  /** A JSON Schema file. Default: `<script>.inputs.json` beside the script, if there is one. */
  readonly inputsFile?: string | undefined;
  readonly secrets?: readonly string[] | undefined;
  readonly runTimeoutSeconds?: number | undefined;
};

const RUN_TIMEOUT_SECONDS = 3_600;

/** An allow-list: a program gets nothing that it does not need, above all no keys. */
const PASSED =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TZ|TMPDIR|LC_[A-Z_]+|XDG_[A-Z_]+|VIRTUAL_ENV|CONDA_(?:PREFIX|DEFAULT_ENV|EXE|PYTHON_EXE|SHLVL)|PYTHON(?:PATH|HOME|UTF8|IOENCODING|HASHSEED|DONTWRITEBYTECODE|WARNINGS)|HF_(?:HOME|HUB_CACHE|HUB_OFFLINE|ENDPOINT)|TRANSFORMERS_(?:CACHE|OFFLINE)|TORCH_HOME|LD_LIBRARY_PATH|DYLD_[A-Z_]+|CUDA_(?:HOME|PATH|DEVICE_ORDER)|OMP_NUM_THREADS|https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY|SSL_CERT_(?:FILE|DIR))$/;

/** Throws E602 if the command names nothing that can be executed, or its inputs cannot be read. */
export function nameProgram(request: ProgramRequest, environment: Environment): NamedProgram {
  const { command, folder, secrets = [], runTimeoutSeconds = RUN_TIMEOUT_SECONDS } = request;
  const words = wordsOf(command);
  const paths = words.flatMap(({ text, isFirst }) => fileNamed(text, folder, isFirst) ?? []);
  const script = paths.at(0);
  if (command.trim() === '') throw noCommand();
  const [first] = words;
  if (first?.isFirst === true) assertExecutable(first.text, folder, environment);
  return {
    name: request.name ?? nameOf(script ?? words[0]?.text ?? 'program'),
    command: withPaths(command, words, folder),
    ...(request.stays === true && { stays: true }),
    folder,
    environment: passedFrom(environment),
    secrets: [...secrets],
    files: Object.fromEntries(paths.map((path) => [path, sha256Of(path)])),
    inputs: inputsOf(request.inputsFile, script),
    runTimeoutSeconds,
  };
}

const nameOf = (path: string): string => basename(path, extname(path)).slice(0, 100) || 'program';

const passedFrom = (environment: Environment): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] =>
        PASSED.test(entry[0]) && entry[1] !== undefined && !PASSWORD.test(entry[1]),
    ),
  );

/** An address with a password is not written to disk. */
const PASSWORD = /^[a-z][\w+.-]*:\/\/[^/@]*@/i;

/** The part of the environment that decides what the command means; the locale of a terminal does not. */
const IDENTIFYING = /^(VIRTUAL_ENV|CONDA_PREFIX|PYTHONPATH)$/;

/** Equal programs have equal ids; an edited script is another program. */
function programId({ environment, ...program }: NamedProgram): string {
  const { command, folder, files, inputs, secrets, stays } = program;
  const own = Object.entries(environment).filter(([name]) => IDENTIFYING.test(name));
  const text = canonical({
    command,
    folder,
    files,
    inputs,
    secrets,
    own: Object.fromEntries(own),
    ...(stays && { stays }),
  });
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

type Word = {
  readonly text: string;
  /** Whether it is the command itself. */
  readonly isFirst: boolean;
  readonly from: number;
  readonly to: number;
};

/** Quoted parts, escaped and other characters without a gap. A word after < or > names a file that the shell opens. */
const WORD = /(?<![<>])(?:"(?:\\[^]|[^"\\])*"|'[^']*'|\\[^]|[^\s;&|()<>"'\\])+/g;
const PLAIN = /^(?:"([^"$`\\]*)"|'([^']*)'|([^"'$`\\*?#~]+))$/;

/** The plain words of a command: those without any meaning for the shell but their text. */
function wordsOf(command: string): readonly Word[] {
  return [...command.matchAll(WORD)].flatMap(({ 0: raw, index: from }) => {
    const [isPlain, ...texts] = PLAIN.exec(raw) ?? [];
    const text = texts.find((each) => each !== undefined) ?? '';
    const isFirst = command.slice(0, from).trim() === '';
    return isPlain === undefined ? [] : [{ text, isFirst, from, to: from + raw.length }];
  });
}

/** The absolute path of the file that a word names. The first word is looked up in PATH, unless it has a slash. */
function fileNamed(word: string, folder: string, isFirst: boolean): string | undefined {
  if (word === '' || word.startsWith('-') || (isFirst && !word.includes('/'))) return undefined;
  const path = isAbsolute(word) ? word : resolve(folder, word);
  return existsSync(path) && statSync(path).isFile() ? path : undefined;
}

function withPaths(command: string, words: readonly Word[], folder: string): string {
  let text = command;
  for (const { text: word, isFirst, from, to } of words.toReversed()) {
    const path = fileNamed(word, folder, isFirst) ?? folderNamed(word, folder);
    if (path !== undefined && path !== word) text = `${text.slice(0, from)}${quoted(path)}${text.slice(to)}`;
  }
  return text;
}

/** A folder counts only with a slash, because many words are also names of folders. */
const folderNamed = (word: string, folder: string): string | undefined => {
  if (!word.includes('/') || isAbsolute(word) || word.startsWith('-')) return undefined;
  const path = resolve(folder, word);
  return existsSync(path) ? path : undefined;
};

const quoted = (path: string): string =>
  /^[\w./+@%:,=-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;

const BUILT_IN =
  /^(?:exec|cd|export|set|test|\[|if|for|while|case|[A-Za-z_]\w*=.*|true|false|echo|printf|:)$/;

const noCommand = (): RunsheetError =>
  problem('E602', {
    what: '--program has no command',
    hint: `for example --program 'python generate.py'`,
  });

/** Before the first row: a command that nobody finds would otherwise fail in every row. */
function assertExecutable(word: string, folder: string, environment: Environment): void {
  if (BUILT_IN.test(word)) return;
  const folders = word.includes('/') ? [''] : (environment['PATH'] ?? '').split(':');
  const isThere = folders.some((place) =>
    existsSync(place === '' ? resolve(folder, word) : join(place, word)),
  );
  if (!isThere)
    throw problem('E602', {
      what: `--program names ${word}, which is not there${word.includes('/') ? '' : ' (no folder of PATH has it)'}`,
      hint: `try it by hand in ${folder}, then give the same words`,
    });
}

function inputsOf(file: string | undefined, script: string | undefined): NamedProgram['inputs'] {
  const beside = script && join(dirname(script), `${basename(script, extname(script))}.inputs.json`);
  const path = file ?? (beside !== undefined && existsSync(beside) ? beside : undefined);
  return path === undefined ? null : inputsSchemaIn(path);
}

/** Reads a JSON Schema of inputs. Throws E602 for a file that has none. */
export function inputsSchemaIn(path: string): Readonly<Record<string, unknown>> {
  try {
    return z.record(z.string(), z.unknown()).parse(parseExactly(readPlainFile(path).text));
  } catch (error) {
    throw problem(
      'E602',
      {
        what: `${path} cannot be read as a JSON Schema of inputs: ${errorMessage(error)}`,
        hint: 'for example {"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]}',
      },
      { cause: error },
    );
  }
}

const sha256Of = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

type FileNote = { readonly key: string; readonly sha256: string };
const notes = new Map<string, FileNote>();

/** The sha-256 of a file, read again only if its size or time has changed; undefined if there is no file. */
function currentSha256(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return undefined;
  const key = `${stats.size} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.ino}`;
  const note = notes.get(path);
  if (note?.key === key) return note.sha256;
  const sha256 = sha256Of(path);
  notes.set(path, { key, sha256 });
  return sha256;
}

/** Why a program is no longer what its user named; undefined if it is. */
export function editIn(files: NamedProgram['files']): string | undefined {
  for (const [path, sha256] of Object.entries(files)) {
    const current = currentSha256(path);
    if (current === undefined) return `${path} is gone`;
    if (current !== sha256) return `${path} has changed since the program was named`;
  }
  return undefined;
}

const fileOf = (programs: string, id: string): string => join(programs, `${id}.json`);

export const programsIn = (home: string): string => join(home, 'programs');

/** Names and ids of the deployments that run a program or a hosted model of the user: a stranger's job must not use them unasked. */
export const ownTasksIn = (home: string): string => join(home, 'own-tasks');

/** Writes the program to the state folder and returns its id. */
export function keepProgram(programs: string, program: NamedProgram): string {
  const id = programId(program);
  mkdirSync(programs, { recursive: true, mode: 0o700 });
  replaceFile(fileOf(programs, id), exactText(program));
  return id;
}

/** The ids of all kept programs. */
export function programIdsIn(programs: string): readonly string[] {
  const names = existsSync(programs) ? readdirSync(programs) : [];
  return names.filter((name) => /^[\da-f]{32}\.json$/.test(name)).map((name) => name.slice(0, 32));
}

/** Throws E602 for an id that no command of this user has kept, or a file that others may have written. */
export function keptProgram(programs: string, id: string): NamedProgram {
  if (!/^[\da-f]{32}$/.test(id)) throw problem('E602', { what: `"${id}" is no id of a program` });
  try {
    const { text, stats } = readPlainFile(fileOf(programs, id));
    const isOwn =
      process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & 0o022) === 0);
    if (!isOwn) throw new Error('other users can write to it');
    return namedProgramSchema.parse(parseExactly(text));
  } catch (error) {
    throw problem(
      'E602',
      { what: `the program ${id} cannot be read: ${errorMessage(error)}`, hint: 'name it again: --program' },
      { cause: error },
    );
  }
}
