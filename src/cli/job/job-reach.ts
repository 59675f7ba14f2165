// What a job names beyond its own folder: files and places elsewhere, keys, and addresses that get rows or news. A job may be a
// stranger's, so all of it counts once its user trusts the job with it, or says the same as a flag of the command.
//
//   job ──reaches nothing──▶ read
//       ──else──▶ asked on a terminal, E615 in a script ──runsheet trust──▶ read until it reaches something else

import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isRunsheetError, problem } from '../../errors/error.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { isAddress, shownAddress } from '../../errors/redact.ts';
import { isBelow } from '../../host/below.ts';
import { loadConfig, ownNotes } from '../../host/config.ts';
import { isThisMachine } from '../../host/proxies.ts';
import { isTrusted, trust, type Found } from '../../host/trust-notes.ts';
import { namedServer } from '../../host/web-address.ts';
import { allowedPrograms } from '../../notices/prepare-targets.ts';
import { readTarget } from '../../options/notify-target.ts';
import { workflowFileIn } from '../flags/workflow-file.ts';
import { askTrust, canAsk, type Terminal } from '../trust/ask-trust.ts';
import { readJob, type Job, type WrittenFlags } from './job-file.ts';
import { flagsBeside } from './job-words.ts';

export type Reach = Found & { readonly content: readonly string[] };

type Reaching = Pick<Job, 'path' | 'sheet' | 'flags' | 'stages'>;

/** One line each, sorted; none if the job stays in its folder. */
function reachOf({ path, sheet, flags, stages = [] }: Reaching): Reach {
  const folder = dirname(resolve(path));
  const lines = [
    ...readFrom(folder, sheet),
    ...reachOfFlags(folder, flags),
    ...stages.flatMap((stage) => [
      ...(stages.some(({ name }) => name === stage.from) ? [] : readFrom(folder, stage.from)),
      ...reachOfFlags(folder, stage.flags),
    ]),
  ];
  return { path: resolve(path), content: [...new Set(lines)].toSorted() };
}

/** All jobs of a folder. Throws E615 and E602 for what the user has not allowed. */
export async function settleJobs(
  jobs: readonly Job[],
  place: string,
  terminal: Terminal | undefined,
): Promise<void> {
  const open: Reach[] = [];
  for (const job of jobs) {
    const found = openReach(job, new Map());
    if (found !== undefined && !(await isAllowed(found, terminal))) open.push(found);
  }
  const [first, ...others] = open;
  if (first === undefined) return;
  if (others.length === 0) throw untrusted(first);
  throw problem('E615', { path: resolve(place), says: open.flatMap(({ content }) => content) });
}

/** `given`: flags of the command, which take the place of those of the job. Throws E615 and E602 for what the user has not allowed. */
export async function settleReach(
  job: Job,
  given: WrittenFlags,
  terminal: Terminal | undefined,
): Promise<void> {
  const found = openReach(job, given);
  if (found !== undefined && !(await isAllowed(found, terminal))) throw untrusted(found);
}

/** What the job reaches beside these flags, if the user has to allow it. Throws E602 for a program. */
function openReach(job: Job, given: WrittenFlags): Reach | undefined {
  const stages = job.stages?.map((stage) => ({ ...stage, flags: flagsBeside(given, stage.flags) }));
  const left = { ...job, flags: flagsBeside(given, job.flags), stages };
  refuseOdd(left);
  refusePrograms(left);
  const all = reachOf(job);
  return reachOf(left).content.length === 0 || isTrusted(ownNotes(), all) ? undefined : all;
}

const isAllowed = async (found: Reach, terminal: Terminal | undefined): Promise<boolean> =>
  terminal !== undefined && canAsk(terminal) && (await askTrust(terminal, found, found.content));

const untrusted = ({ path, content }: Reach): Error => problem('E615', { path, says: content });

/** Of a job that the user has just written with a command, which named all of it. */
export function trustWritten(path: string): void {
  const found = reachAt(path);
  try {
    if (found.content.length > 0) trust(ownNotes(), found);
  } catch (error) {
    // Who has no folder for notes is asked when it runs.
    if (!isRunsheetError(error)) throw error;
  }
}

export const reachAt = (path: string): Reach => reachOf(readJob(path));

const textsOf = (flags: WrittenFlags, flag: string): readonly string[] => {
  const values = flags.get(flag);
  return typeof values === 'object' ? values : [];
};

function filesIn(flags: WrittenFlags): readonly string[] {
  const lists = textsOf(flags, '--grid').flatMap((axis) => /^[^=]+=@(.+)$/s.exec(axis)?.[1] ?? []);
  return [...textsOf(flags, '--workflow').map(workflowFileIn), ...textsOf(flags, '--pick'), ...lists];
}

function reachOfFlags(folder: string, flags: WrittenFlags): readonly string[] {
  const values = (flag: string): readonly string[] => textsOf(flags, flag);
  return [
    ...filesIn(flags).flatMap((file) => readFrom(folder, file)),
    ...values('--out').flatMap((out) => (isOutside(folder, out) ? [`writes batches to ${out}`] : [])),
    ...reachOfServers(values('--comfyui'), values('--comfyui-headers'), 'headers'),
    ...reachOfServers(values('--comfy-api'), values('--comfy-api-key-file'), 'key'),
    ...values('--notify').flatMap(notified),
  ].map(terminalLine);
}

/** An address is read with what this machine may reach, and s3 with the keys of the user. */
const readFrom = (folder: string, file: string | undefined): readonly string[] =>
  file !== undefined && file !== '-' && isOutside(folder, file)
    ? [terminalLine(`reads ${shownAddress(file)}`)]
    : [];

function reachOfServers(given: readonly string[], keys: readonly string[], what: string): readonly string[] {
  const urls = given.map((text) => namedServer(text).url);
  const away = urls.filter((url) => !isThisMachine(URL.parse(url)?.hostname ?? ''));
  const to = urls.length === 0 ? 'the servers of the command' : urls.map(shownAddress).join(', ');
  return [
    ...away.map((url) => `sends rows to ${shownAddress(url)}`),
    ...keys.map((file) => `sends the ${what} in ${file} to ${to}`),
  ];
}

function notified(text: string): readonly string[] {
  const target = readTarget(text);
  const isNamed = 'wrong' in target || !['https', 'mailto'].includes(target.kind);
  const isHere = 'url' in target && isThisMachine(URL.parse(target.url)?.hostname ?? '');
  return isNamed || isHere ? [] : [`notifies ${text}`];
}

/** Elsewhere, also behind links, or hidden in the folder. */
function isOutside(folder: string, file: string): boolean {
  if (isAddress(file)) return true;
  const [home, real] = [realOf(folder), realOf(file)];
  return (
    !isBelow(real, home) ||
    relative(home, real)
      .split(sep)
      .some((name) => name.startsWith('.'))
  );
}

/** What is not there yet is where its folder is. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realOf(dirname(path)), basename(path));
  }
}

/** A pipe would be waited for, and a device never ends. */
function refuseOdd({ path, sheet, flags, stages = [] }: Reaching): void {
  const own = [sheet, ...filesIn(flags)];
  const files = [...own, ...stages.flatMap((stage) => [stage.from, ...filesIn(stage.flags)])];
  for (const file of files) {
    const stats = file === undefined || file === '-' ? undefined : statSync(file, { throwIfNoEntry: false });
    if (stats !== undefined && !stats.isFile() && !stats.isDirectory())
      throw problem('E602', { what: `${path} names ${file}, which is no plain file` });
  }
}

/** A job starts no program: its user names it. */
function refusePrograms({ path, flags, stages = [] }: Reaching): void {
  const targets = [flags, ...stages.map((stage) => stage.flags)].flatMap((one) => textsOf(one, '--notify'));
  const programs = targets.map(readTarget).flatMap((one) => ('path' in one ? [one.path] : []));
  if (programs.length === 0) return;
  const config = loadConfig();
  const allowed = new Set([...config.notify.programs, ...allowedPrograms(config.home)]);
  const program = programs.find((one) => !allowed.has(one));
  if (program === undefined) return;
  throw problem('E602', {
    what: `${path} names a program: ${program}`,
    hint: `a job starts no program that you have not named; if you mean it: export RUNSHEET_NOTIFY_EXEC=${shellWord(program)}`,
  });
}
