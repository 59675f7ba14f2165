// schedule apply: makes the schedules match the job files of a folder. Shows the differences, asks before
// changing or deleting a schedule, and changes nothing if any job is invalid.

import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Wording } from '../../batches/questions.ts';
import { problem, RunsheetError } from '../../errors/error.ts';
import { fileFault } from '../../errors/file-fault.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { checkFiring } from '../../library/schedules.ts';
import type { ScheduleDefinition } from '../../schedule/schedule-definition.ts';
import { aboutJob, ACCEPT_FILES } from '../../schedule/job-keys.ts';
import type { Schedules } from '../../temporal/temporal-schedules.ts';
import { SheetRefused } from '../../sheet/sheet-refused.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import { configOf } from '../flags/batch-options.ts';
import { parsedFlags, type Parameters } from '../job/parsed-flags.ts';
import { isJob, readJob, type SheetJob } from '../job/job-file.ts';
import { settleJobs } from '../job/job-reach.ts';
import { wordsOf } from '../job/job-words.ts';
import { jobLines } from '../job/write-job.ts';
import { appliedSchema } from '../json/documents.ts';
import { shaped } from '../json/shape.ts';

import { plural } from '../../options/text/printed-numbers.ts';
import { ask } from '../run/answer-policy.ts';
import { toKeep } from '../next-command.ts';
import { serversFor } from '../command-session.ts';
import { definitionOf, type CreateFlags } from './schedule-create.ts';

type ApplyFlags = {
  readonly acceptFiles: boolean;
  readonly prune: boolean;
  readonly yes: boolean;
  readonly out?: string;
  readonly output: 'text' | 'json';
};

type Applied = {
  readonly schedule: string;
  readonly how: 'created' | 'changed' | 'unchanged' | 'deleted' | 'left';
  readonly changes: readonly string[];
};

/** `parameters`: those of `schedule create`, because a job has its flags. */
export const applyWith = (parameters: Parameters) =>
  async function apply(this: Context, flags: ApplyFlags, place: string): Promise<void> {
    const printer = printerFor(this, flags);
    if (flags.prune && isJob(place))
      throw problem('E602', {
        what: `--prune with ${place} alone would delete all other schedules`,
        hint: 'give the folder of the job files',
      });
    await using servers = serversFor(configOf(flags), printer);
    const definitions = new Map<string, ScheduleDefinition>();
    const paths = new Map<string, string>();
    const jobs = jobsIn(place);
    await settleJobs(jobs, place, flags.output === 'text' ? this.process : undefined);
    for (const job of jobs) {
      const createFlags = await parsedFlags<CreateFlags>(this, parameters, wordsOfJob(job, flags), job.path);
      paths.set(job.name, job.path);
      const defining = definitionOf(servers, createFlags, job.name, job.sheet ?? '');
      definitions.set(job.name, { ...(await defining.catch(inFile(job.path))), job: resolve(job.path) });
    }
    const { schedules, stack } = await servers.look(false);
    const { out } = servers.config;
    const applied = await differences(schedules, definitions, { prunes: flags.prune, out });
    if (flags.output === 'text') for (const difference of applied) printer.data(lineOf(difference));
    for (const { schedule, how } of applied) {
      const definition = definitions.get(schedule);
      const path = paths.get(schedule) ?? '';
      if (definition !== undefined && how !== 'unchanged')
        await checkFiring(servers, definition, asLinesOf(path)).catch(inFile(path));
    }
    if (await askAgreement(this, printer, flags, applied)) await carryOut(schedules, definitions, applied);
    if (flags.output === 'json') printer.json(shaped(appliedSchema, { schedules: applied }));
    const isChanged = applied.some(({ how }) => how !== 'unchanged' && how !== 'left');
    const here = isChanged ? stack : undefined;
    if (here !== undefined) printer.notice('They fire while the embedded servers run (docs/schedules.md).');
    printer.next(...toKeep(here), ['list', 'runsheet schedule list']);
  };

/** Questions about a job are answered in its file. */
const asLinesOf =
  (path: string): Wording =>
  (answer, assumed) => {
    const flags = [...answer.flags, ...assumed];
    const ofCommand = flags.filter(([flag]) => flag === ACCEPT_FILES);
    const lines = flags.filter(([flag]) => flag !== ACCEPT_FILES);
    return [
      ...(lines.length === 0 ? [] : [linesFor(path, lines)]),
      ...(ofCommand.length === 0 ? [] : [`runsheet schedule apply ${ACCEPT_FILES} ${shellWord(path)}`]),
    ].join('\nthen: ');
  };

const linesFor = (path: string, flags: readonly (readonly (string | undefined)[])[]): string =>
  `add above [schedule] in ${terminalLine(path)}:\n  ${jobLines(flags.flat().filter((word) => word !== undefined)).join('\n  ')}`;

/** Rethrows an error with its job, whose file is the place to correct it. */
const inFile =
  (path: string) =>
  (error: unknown): never => {
    if (!(error instanceof RunsheetError)) throw error;
    if (!(error instanceof SheetRefused)) throw ofJob(error, path);
    const { total, byCode, rows, errorsFile } = error;
    const problems = error.problems.map((rowError) => ofJob(rowError, path));
    throw new SheetRefused({ problems, total, byCode, rows }, errorsFile, aboutJob(error, path).hint);
  };

/** Drops the correction of the command line, which does not contain the job's flags. */
function ofJob(error: RunsheetError, path: string): RunsheetError {
  const { exit, correction, place = { file: path }, cause } = error;
  const { code, message, hint } = aboutJob(error, path);
  const isNamed = hint?.includes(path) === true || correction === undefined || !('add' in correction);
  const hints = [...(hint === undefined ? [] : [hint]), ...(isNamed ? [] : [linesFor(path, correction.add)])];
  return new RunsheetError(code, message, { exit, hint: hints.join('\n') || undefined, place, cause });
}

/** The jobs that have a schedule, by name. Throws E602 if there are none. */
function jobsIn(place: string): readonly SheetJob[] {
  const jobs = pathsIn(place)
    .map(readJob)
    .filter(({ schedule }) => schedule !== undefined);
  if (jobs.length > 0) return jobs;
  throw problem('E602', {
    what: `${place} has no job with a [schedule]`,
    hint: 'a job is a file such as nightly.job.toml; with [schedule] and cron = "0 2 * * *" it fires every night',
  });
}

function pathsIn(place: string): readonly string[] {
  try {
    if (!statSync(place).isDirectory()) return [place];
    return (
      readdirSync(place)
        // Editors and file servers leave files such as `.#nightly.job.toml` beside a job.
        .filter((name) => isJob(name) && !name.startsWith('.'))
        .toSorted()
        .map((name) => join(place, name))
    );
  } catch (error) {
    throw fileFault(error, { path: place }) ?? error;
  }
}

function wordsOfJob(
  { path, name, sheet, flags, schedule = new Map() }: SheetJob,
  { acceptFiles, out }: Pick<ApplyFlags, 'acceptFiles' | 'out'>,
) {
  if (sheet === undefined)
    throw problem('E602', {
      what: `${path} names no sheet`,
      hint: 'add sheet = "prompts.csv", which each firing reads',
    });
  const accepted = acceptFiles ? ['--accept-files'] : [];
  const words = [name, sheet, ...wordsOf(schedule), ...wordsOf(flags), ...accepted];
  return out === undefined || words.includes('--out') ? words : [...words, '--out', out];
}

async function differences(
  schedules: Schedules,
  definitions: ReadonlyMap<string, ScheduleDefinition>,
  { prunes, out }: { readonly prunes: boolean; readonly out: string },
): Promise<readonly Applied[]> {
  const applied: Applied[] = [];
  // The namespace may contain schedules of other users.
  const outs = new Set([out, ...[...definitions.values()].map((definition) => definition.out)]);
  for (const [schedule, definition] of definitions) {
    const changes = await schedules.changes(definition);
    const how = changes === undefined ? 'created' : changes.length === 0 ? 'unchanged' : 'changed';
    applied.push({ schedule, how, changes: changes ?? [] });
  }
  for await (const { name, definition } of schedules.list()) {
    if (definitions.has(name)) continue;
    const isOther = !outs.has(definition.out);
    const changes = isOther ? [`its batches are elsewhere: ${definition.out}`] : [];
    applied.push({ schedule: name, how: prunes && !isOther ? 'deleted' : 'left', changes });
  }
  return applied.toSorted((a, b) => (a.schedule < b.schedule ? -1 : 1));
}

const SAID: Readonly<Record<Applied['how'], string>> = {
  created: 'new',
  changed: 'changes',
  unchanged: 'as it is',
  deleted: 'is deleted',
  left: 'has no job here',
};

const lineOf = ({ schedule, how, changes }: Applied): string =>
  [
    `${schedule}\t${SAID[how]}${how === 'left' && changes.length === 0 ? '; --prune deletes it' : ''}`,
    ...changes.map((change) => terminalLine(`  ${change}`)),
  ].join('\n');

/** Resolves with true if the user agrees. Throws E563 if nobody can be asked. */
async function askAgreement(
  { process }: Context,
  printer: Printer,
  { yes, output }: ApplyFlags,
  applied: readonly Applied[],
): Promise<boolean> {
  const affected = applied.filter(({ how }) => how === 'changed' || how === 'deleted');
  if (yes || affected.length === 0) return true;
  if (!printer.isTerminal || !process.stdin.isTTY || output === 'json')
    throw problem(
      'E563',
      { schedules: affected.map(({ schedule }) => schedule) },
      { correction: { add: [['--yes']] } },
    );
  const question = `Change or delete ${plural(affected.length, 'schedule')}? [y/n] `;
  return (await ask(process, question, { y: true, yes: true, n: false, no: false })) ?? false;
}

async function carryOut(
  schedules: Schedules,
  definitions: ReadonlyMap<string, ScheduleDefinition>,
  applied: readonly Applied[],
): Promise<void> {
  for (const { schedule, how } of applied) {
    const definition = definitions.get(schedule);
    if (how === 'deleted') await schedules.getHandle(schedule).delete();
    else if (definition !== undefined && how !== 'unchanged')
      await schedules.create(definition, { replace: true });
  }
}
