// Computes the reach of a job: files and places outside its folder, keys, and addresses that receive rows
// or notifications. A stranger may have written the job, so its reach needs the user's trust, or the same
// flag on the command line.
//
//   job ──reaches nothing──▶ read
//       ──else──▶ asked on a terminal, E615 in a script ──runsheet trust──▶ read until it reaches something else

import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isRunsheetError, problem } from '../../errors/error.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { isAddress, shownAddress } from '../../errors/redact.ts';
import { isBelow } from '../../host/below.ts';
import { loadConfig, ownNotes } from '../../host/settings/config.ts';
import { keptLines } from '../../host/kept-lines.ts';
import { ownTasksIn } from '../../host/settings/named-program.ts';
import { isThisMachine } from '../../host/settings/proxies.ts';
import { isTrusted, trust, type TrustSubject } from '../../host/settings/trust-notes.ts';
import { namedServer } from '../../host/http/web-address.ts';
import { allowedPrograms } from '../../notices/prepare-targets.ts';
import { readTarget } from '../../options/notify-target.ts';
import { workflowFileIn } from '../flags/workflow-file.ts';
import { askTrust, canAsk, type Terminal } from '../trust/ask-trust.ts';
import { readJob, type SheetJob, type WrittenFlags } from './job-file.ts';
import { flagsBeside } from './job-words.ts';

export type Reach = TrustSubject & { readonly content: readonly string[] };

type Reaching = Pick<SheetJob, 'path' | 'sheet' | 'flags' | 'stages'>;

/** Sorted lines, one for each thing reached; empty if the job stays in its folder. */
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

/** Settles all jobs of a folder. Throws E615 and E602 for anything the user has not allowed. */
export async function settleJobs(
  jobs: readonly SheetJob[],
  place: string,
  terminal: Terminal | undefined,
): Promise<void> {
  const open: Reach[] = [];
  for (const job of jobs) {
    const reach = openReach(job, new Map());
    if (reach !== undefined && !(await obtainTrust(reach, terminal))) open.push(reach);
  }
  const [first, ...otherReaches] = open;
  if (first === undefined) return;
  if (otherReaches.length === 0) throw untrusted(first);
  throw problem('E615', { path: resolve(place), says: open.flatMap(({ content }) => content) });
}

/** `commandFlags` override the flags of the job. Throws E615 and E602 for anything the user has not allowed. */
export async function settleReach(
  job: SheetJob,
  commandFlags: WrittenFlags,
  terminal: Terminal | undefined,
): Promise<void> {
  const reach = openReach(job, commandFlags);
  if (reach !== undefined && !(await obtainTrust(reach, terminal))) throw untrusted(reach);
}

/** The reach of the job beyond the command's flags, if the user still has to allow it. Throws E602 for a program. */
function openReach(job: SheetJob, commandFlags: WrittenFlags): Reach | undefined {
  const stages = job.stages?.map((stage) => ({ ...stage, flags: flagsBeside(commandFlags, stage.flags) }));
  const left = { ...job, flags: flagsBeside(commandFlags, job.flags), stages };
  refuseOdd(left);
  refusePrograms(left);
  const fullReach = reachOf(job);
  return reachOf(left).content.length === 0 || isTrusted(ownNotes(), fullReach) ? undefined : fullReach;
}

const obtainTrust = async (reach: Reach, terminal: Terminal | undefined): Promise<boolean> =>
  terminal !== undefined && canAsk(terminal) && (await askTrust(terminal, reach, reach.content));

const untrusted = ({ path, content }: Reach): Error => problem('E615', { path, says: content });

/** Trusts a job that the user just wrote with a command, because the command named everything in it. */
export function trustWritten(path: string): void {
  const reach = reachAt(path);
  try {
    if (reach.content.length > 0) trust(ownNotes(), reach);
  } catch (error) {
    // Without a folder for notes, the user is asked when the job runs.
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
    ...values('--deployment').flatMap(ofOwnTask),
    ...values('--model').map((model) => `spends money for ${model} with your key`),
    ...values('--key-file').map((file) => `sends the key in ${file} to the vendor of the model`),
    ...values('--notify').flatMap(notified),
  ].map(terminalLine);
}

/** A program or a paid model that the user has named before, which its name alone would start. */
function ofOwnTask(deployment: string): readonly string[] {
  // Ids are found whatever their case.
  return ownTasks().some((task) => task.toLowerCase() === deployment.toLowerCase())
    ? [`runs ${deployment}, which is a program or a hosted model of yours`]
    : [];
}

/** A state folder that may be a stranger's has none of this user's tasks, and every command refuses it. */
function ownTasks(): readonly string[] {
  try {
    return keptLines(ownTasksIn(loadConfig().home));
  } catch (error) {
    if (isRunsheetError(error)) return [];
    throw error;
  }
}

/** Reading an address uses this machine's network access, and reading from S3 uses the user's keys. */
const readFrom = (folder: string, file: string | undefined): readonly string[] =>
  file !== undefined && file !== '-' && isOutside(folder, file)
    ? [terminalLine(`reads ${shownAddress(file)}`)]
    : [];

function reachOfServers(
  servers: readonly string[],
  keys: readonly string[],
  what: string,
): readonly string[] {
  const urls = servers.map((text) => namedServer(text).url);
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

/** Whether a path leaves the folder, also through links, or is hidden in it. */
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

/** Resolves links. A missing file is located by its folder. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realOf(dirname(path)), basename(path));
  }
}

/** Reading a pipe would block, and a device never ends. */
function refuseOdd({ path, sheet, flags, stages = [] }: Reaching): void {
  const own = [sheet, ...filesIn(flags)];
  const files = [...own, ...stages.flatMap((stage) => [stage.from, ...filesIn(stage.flags)])];
  for (const file of files) {
    const stats = file === undefined || file === '-' ? undefined : statSync(file, { throwIfNoEntry: false });
    if (stats !== undefined && !stats.isFile() && !stats.isDirectory())
      throw problem('E602', { what: `${path} names ${file}, which is no plain file` });
  }
}

/** A job cannot start programs unless the user has named them. */
function refusePrograms({ path, flags, stages = [] }: Reaching): void {
  const targets = [flags, ...stages.map((stage) => stage.flags)].flatMap((stageFlags) =>
    textsOf(stageFlags, '--notify'),
  );
  const programs = targets.map(readTarget).flatMap((target) => ('path' in target ? [target.path] : []));
  if (programs.length === 0) return;
  const config = loadConfig();
  const allowed = new Set([...config.notify.programs, ...allowedPrograms(config.home)]);
  const program = programs.find((candidate) => !allowed.has(candidate));
  if (program === undefined) return;
  throw problem('E602', {
    what: `${path} names a program: ${program}`,
    hint: `a job starts no program that you have not named; if you mean it: export RUNSHEET_NOTIFY_EXEC=${shellWord(program)}`,
  });
}
