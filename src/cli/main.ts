// Runs the command of this process, and ends the process with its exit code.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { EXIT } from '../errors/error.ts';
import { programName, PROGRAM } from '../host/package-version.ts';
import { run, type RouteMap, type StricliProcess } from '@stricli/core';
import { keepSecret, secretsIn } from '../errors/redact.ts';
import { LETTERS, printAndExit } from './command.ts';
import { application } from './command-list.ts';
import { commandPage, groupPage, programPage, type CommandHelp } from './help.ts';
import type { Context, Output } from './context.ts';
import { parserFault } from './flags/parser-faults.ts';
import type { Terminal } from './trust/ask-trust.ts';

export async function main(args: readonly string[]): Promise<void> {
  let reported: Promise<void> | undefined;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that closes early (`| head`) is not an error.
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    reported ??= report(error);
  });
  // The command finishes with its own exit code even if nobody reads its messages.
  process.stderr.on('error', () => undefined);
  if (startsServers(args)) (await import('../temporal/embedded/spare-stack.ts')).prepareStack();
  const code = await execute(args, { process, program: programName() });
  await Promise.all([process.stdout, process.stderr].map(flushed));
  await reported;
  // Exits explicitly: open sockets would keep the process alive.
  process.exit(reported === undefined ? code : process.exitCode);
}

/** Whether to start servers before the sheet is read: the proposal asks one of them. */
const startsServers = (args: readonly string[]): boolean =>
  ['run', 'submit'].includes(args[0] ?? '') &&
  args.some((word) => /^--(local|comfyui|program|model)\b/.test(word)) &&
  !args.some((word) => ['--help', '-h'].includes(word));

/** The disk behind a redirected stdout may be full. */
async function report(error: NodeJS.ErrnoException): Promise<void> {
  const { fileFault } = await import('../errors/file-fault.ts');
  await printAndExit({ process }, fileFault(error, { path: 'the output' }) ?? error, undefined);
  await flushed(process.stderr);
}

const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((done) => stream.write('', () => done()));

/** Replaces paths of batch folders by batch names. Loads the store only for a word with a path. */
const withBatchNames = async (words: readonly string[]): Promise<readonly string[]> =>
  words.some((word) => word.includes('/'))
    ? (await import('./flags/batch-path.ts')).withBatchNames(words)
    : words;

/** Resolves with the exit code. */
export async function execute(
  args: readonly string[],
  { process, program }: Pick<Context, 'process' | 'program'>,
): Promise<number> {
  if (args[0] === '__complete')
    return (await import('./completion/complete.ts')).complete(args.slice(1), { process });
  // Messages repeat the command and end up in other logs.
  for (const word of args) for (const secret of secretsIn(word)) keepSecret(secret);
  const words = await withBatchNames(plainWords(args));
  // Corrections of errors use batch names unless the user gave --out.
  const effective = words.includes('--out') ? words : args;
  const context = { process: process as StricliProcess & NodeJS.Process, args: effective, program };
  try {
    const page = pageOf(words, program ?? PROGRAM);
    if (page !== undefined) process.stdout.write(page);
    else {
      const terminal = outputIn(args) === undefined ? process : undefined;
      if (words[0] !== 'trust') await askFirst(terminal);
      const { words: whole = words, ...job } = await jobIn(words, terminal);
      await run(application, whole, { ...context, ...job });
    }
  } catch (error) {
    await printAndExit(context, parserFault(error, args), outputIn(args));
  }
  // The parser's own exit codes are negative; all of them mean wrong usage.
  const code = Number(process.exitCode ?? EXIT.ok);
  return code < 0 ? EXIT.usage : code;
}

const SETTINGS = 'runsheet.toml';

/** Asks whether to trust the settings of this folder; only a user can decide. */
async function askFirst(terminal: Terminal | undefined): Promise<void> {
  if (terminal === undefined || !existsSync(SETTINGS)) return;
  await (await import('./trust/ask-trust.ts')).askSettings(terminal, SETTINGS);
}

/** Expands a job file into the command, if the user allows its reach. */
async function jobIn(
  words: readonly string[],
  terminal: Terminal | undefined,
): Promise<{ readonly words?: readonly string[]; readonly job?: string }> {
  const [name = ''] = words;
  const isNamed =
    ['run', 'plan', 'submit'].includes(name) && words.some((word) => word.endsWith('.job.toml'));
  if (!isNamed) return {};
  const { flagsIn, jobAt, withJob } = await import('./job/job-words.ts');
  const { readJob } = await import('./job/job-file.ts');
  const { settleReach } = await import('./job/job-reach.ts');
  const path = words[jobAt(words)];
  if (path === undefined) return {};
  await settleReach(readJob(path), flagsIn(words, LETTERS), terminal);
  return { words: withJob(words, LETTERS), job: resolve(path) };
}

/** The requested help page; undefined if none is requested, or if the command does not exist. */
function pageOf(words: readonly string[], program: string): string | undefined {
  const at = words.findIndex((word) => ['--help', '-h', '--'].includes(word));
  if (at === -1 || words[at] === '--') return undefined;
  let [name, target]: [string, RouteTarget] = [program, application.root];
  for (const word of words.slice(0, at).filter((argument) => !argument.startsWith('-'))) {
    if (!('getAllEntries' in target)) break;
    const next = target
      .getAllEntries()
      .find((route) => route.name['convert-camel-to-kebab'] === word)?.target;
    if (next === undefined) return undefined;
    [name, target] = [`${name} ${word}`, next];
  }
  if (!('getAllEntries' in target)) return commandPage(name, target as CommandHelp, words[at + 1] === 'all');
  // The default command's flags are more useful than a list of two commands.
  const usual = name.endsWith(' service') ? target.getDefaultCommand() : undefined;
  if (usual !== undefined) return commandPage(name, usual as CommandHelp, words[at + 1] === 'all');
  const commands = target
    .getAllEntries()
    .filter(({ hidden }) => !hidden)
    .map((entry) => [entry.name['convert-camel-to-kebab'], entry.target.brief] as const);
  return (target === application.root ? programPage : groupPage)(name, target.brief, commands);
}

type RouteTarget = ReturnType<RouteMap<Context>['getAllEntries']>[number]['target'];

/** Accepts `help run` and `version`, which people type first. */
function plainWords(args: readonly string[]): readonly string[] {
  const [first, ...laterWords] = args;
  if (first === undefined || first === 'help') return [...laterWords, '--help'];
  return first === 'version' && laterWords.length === 0 ? ['--version'] : args;
}

/** Reads -o from the raw arguments, because arguments that fail to parse still need their error as JSON. */
function outputIn(args: readonly string[]): Output | undefined {
  const outputs = args.map((word, at) =>
    ['-o', '--output'].includes(word) ? args[at + 1] : /^(?:-o|--output)=(.*)$/.exec(word)?.[1],
  );
  return outputs.find((word) => word === 'json' || word === 'jsonl');
}
