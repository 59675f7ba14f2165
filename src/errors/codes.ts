// The table of all errors that users can see; here, those of a service, a cluster and a machine. A code keeps its meaning
// forever.

import { BATCH_ENTRIES } from './batch-codes.ts';
import { didYouMean, entry, EXIT, list, sentences, textFromThrower, type ErrorEntry } from './entry.ts';
import { shellWord } from './outside-text.ts';
import { SHEET_ENTRIES } from './sheet-codes.ts';
import { unusableText, type ServerHintFacts } from './server-hints.ts';

const { usage, notAuthenticated, inputRefused, unreachable } = EXIT;

/** The source of the server address if the command itself started the servers. */
export const EMBEDDED = 'the embedded server';

export const errorTable = {
  ...SHEET_ENTRIES,
  ...BATCH_ENTRIES,
  E301: entry<{ status: number; detail: string; keyFrom: string; lastFour: string }>(
    notAuthenticated,
    (f) => [
      `the run service answered ${f.status}: ${f.detail}`,
      `the key was read from ${f.keyFrom} and ends in ${f.lastFour}; put a valid key there`,
    ],
  ),
  E302: entry<{
    wanted: string;
    base: string;
    known: readonly string[];
    near?: string | undefined;
    isAmbiguous?: boolean;
  }>(inputRefused, (f) => [
    f.isAmbiguous
      ? `the run service at ${f.base} has several deployments "${f.wanted}"; name one by its id`
      : `the run service at ${f.base} has no deployment "${f.wanted}"`,
    sentences(didYouMean(f.near), f.known.length > 0 ? `deployments: ${list(f.known)}` : undefined) ||
      'that service has no deployments; create one there, or check RUNSHEET_API_URL and the key',
  ]),
  E303: entry<{ wanted: string; base: string }>(inputRefused, (f) => [
    `the run service at ${f.base} cannot find deployments by name, and "${f.wanted}" is not a deployment id`,
    'pass the deployment id, a UUID: -d <id>',
  ]),
  E304: entry<{ base: string; reason: string }>(unreachable, (f) => [
    `the run service at ${f.base} cannot be reached: ${f.reason}`,
    'check its address (RUNSHEET_API_URL, or api_url in a settings file), and run: runsheet doctor. To rehearse without a run service, add --local',
  ]),
  E305: entry<{ ownGpus?: string }>(usage, (f) => [
    'no run service is set',
    f.ownGpus !== undefined
      ? `the deployment "${f.ownGpus}" runs on your own GPUs, which this state folder keeps: add --local`
      : 'set RUNSHEET_API_URL and RUNSHEET_API_KEY, or add --local to rehearse on the local run service, which costs nothing',
  ]),
  E306: entry<{ base: string }>(notAuthenticated, (f) => [
    `no API key is set for ${f.base}`,
    'set RUNSHEET_API_KEY, or RUNSHEET_API_KEY_FILE to a file that contains the key',
  ]),
  E307: entry<{ base: string; answers: readonly string[] }>(usage, (f) => [
    `${f.base} responds, but not as a run service does:\n${f.answers.map((a) => `    ${a}`).join('\n')}`,
    'set RUNSHEET_API_URL to the base address with its path, such as https://…/api',
  ]),
  E308: entry<{ base: string; speaks: 'v1' | 'v2' }>(usage, (f) => [
    f.speaks === 'v1'
      ? `the run service at ${f.base} speaks V1, but V2 was requested`
      : `the run service at ${f.base} speaks V2, but V1 was requested`,
    f.speaks === 'v1'
      ? 'set RUNSHEET_API_URL to its V2 address; if it is not migrated yet, add --api v1 or set RUNSHEET_API=v1'
      : 'remove --api v1 and RUNSHEET_API=v1: V2 guarantees more',
  ]),
  E309: entry<{ from: string; why: string }>(notAuthenticated, (f) => [
    `the API key from ${f.from} cannot be used: ${f.why}`,
    'set RUNSHEET_API_KEY to the key, which is one line of printable ASCII characters, or RUNSHEET_API_KEY_FILE to a file of your own that contains it',
  ]),
  E310: entry<{ base: string; asked: string; what: string }>(unreachable, (f) => [
    `the run service at ${f.base} sent an unexpected response to ${f.asked}: ${f.what}`,
    'check RUNSHEET_API_URL and --api, then run: runsheet doctor',
  ]),
  E311: entry<{ name: string; has: string; hint: string }>(inputRefused, (f) => [
    `the deployment "${f.name}" has ${f.has}`,
    f.hint,
  ]),
  E312: entry<{ what: string; hint: string }>(usage, (f) => [`--max-cost cannot be kept: ${f.what}`, f.hint]),
  E313: entry<{ base: string }>(inputRefused, (f) => [
    `the run service at ${f.base} does not list its deployments`,
    'it may still know one by its id, a UUID: give that instead of a name',
  ]),
  E314: entry<{ what: string; accept: string }>(inputRefused, (f) => [
    f.what,
    `remove the GPU from the deployment, or the GPUs from the sheet and the command; to send the rows as they are:\n  ${f.accept}`,
  ]),
  E401: entry<{ address: string; from: string; reason: string }>(unreachable, (f) => [
    `Temporal at ${f.address} (${f.from}) cannot be reached: ${f.reason}`,
    f.from === EMBEDDED
      ? 'the command that runs the embedded server may be busy or may have just ended: run your command again'
      : 'start it, or unset the address to use the embedded server; to check both: runsheet doctor',
  ]),
  E402: entry<{ namespace: string; address: string }>(unreachable, (f) => [
    `Temporal at ${f.address} has no namespace "${f.namespace}"`,
    `create it with: temporal operator namespace create -n ${shellWord(f.namespace)} --address ${shellWord(f.address)}`,
  ]),
  E403: entry<{ taskQueue: string; address: string }>(unreachable, (f) => [
    `no worker polls the task queue ${f.taskQueue} at ${f.address}`,
    'start one: runsheet worker',
  ]),
  E405: entry<{ tried: readonly string[]; unwritable?: string | undefined }>(unreachable, (f) => [
    `no Temporal server is available:\n${f.tried.map((t) => `    ${t}`).join('\n')}`,
    `${f.unwritable === undefined ? '' : `this user cannot write ${f.unwritable}: set XDG_CACHE_HOME to a folder of your own. Or `}install the temporal command (1.9 or newer), or set TEMPORAL_ADDRESS to your Temporal server`,
  ]),
  E406: entry<{ what: string; log: string }>(unreachable, (f) => [
    `the embedded servers did not start: ${f.what}`,
    `see their log, ${f.log}; to check each part: runsheet doctor`,
  ]),
  E407: entry<{ id: string; owner: string; known: readonly string[] }>(notAuthenticated, (f) => [
    `Temporal's data of ${f.owner || 'a batch'} is encrypted with the payload key ${f.id}, ${f.known.length > 0 ? `but only ${list(f.known)} is set here` : 'but no payload key is set here'}`,
    'add that key to RUNSHEET_PAYLOAD_KEY or to the file RUNSHEET_PAYLOAD_KEY_FILE (embedded servers keep theirs in the file payload-key in RUNSHEET_HOME); until then the batch waits and no row fails',
  ]),
  E408: entry<{ owner: string }>(notAuthenticated, (f) => [
    `Temporal's data of ${f.owner || 'a batch'} is not encrypted, but the settings require encryption`,
    'if the batch was started before you set a key, set RUNSHEET_PAYLOAD_PLAIN=read to accept it; otherwise something without the key wrote it',
  ]),
  E409: entry<{ owner: string; why: string }>(notAuthenticated, (f) => [
    `Temporal's data of ${f.owner || 'a batch'} was changed: ${f.why}`,
    'someone with access to the Temporal namespace changed it, and none of it is used',
  ]),
  E410: entry<{ address: string; workers: readonly string[]; own: string }>(unreachable, (f) => [
    `workers at ${f.address} have payload keys that differ from those of this command (${f.own}): ${list(f.workers)}`,
    'set the same RUNSHEET_PAYLOAD_KEY or RUNSHEET_PAYLOAD_KEY_FILE for all of them and this command, then restart the workers',
  ]),
  E411: entry<{ folder: string; out: string }>(inputRefused, (f) => [
    `this worker may not use ${f.folder}: it is not in ${f.out}`,
    `start the worker where it may use it: RUNSHEET_OUT=${shellWord(f.folder.replace(/[/\\][^/\\]*$/, ''))} runsheet worker; then repeat the command with --again, or trigger the schedule. With embedded servers, --out does both`,
  ]),
  E412: entry<{ members: readonly string[] }>(usage, (f) => [
    `this process generated its own webhook secret, and ${list(f.members)} ${f.members.length === 1 ? 'uses' : 'use'} another one`,
    'set the same RUNSHEET_WEBHOOK_SECRET or RUNSHEET_WEBHOOK_SECRET_FILE for all workers and receivers; create one with: openssl rand -hex 32',
  ]),
  // The workflow that raises this error cannot use the table and repeats the text.
  E415: entry<object>(usage, () => [
    'the worker of this task queue has no workflow runsheetBatch',
    "add this line to the application's workflows: export * from 'runsheet/workflow'; or name the queue of a runsheet worker with the option taskQueue",
  ]),
  E416: entry<{ what: string; hint: string }>(usage, (f) => [
    `the worker cannot use the RunsheetPlugin: ${f.what}`,
    f.hint,
  ]),
  E417: entry<{
    home: string;
    pid: number;
    theirs: string | undefined;
    ours: string;
    commands: readonly number[];
  }>(unreachable, (f) => [
    `the embedded servers of ${f.home} (pid ${f.pid}, version ${f.theirs ?? 'unknown'}) cannot run the batches of version ${f.ours}`,
    // A command that keeps running would start them again.
    f.commands.length > 0
      ? `stop the commands that use them, which loses nothing: kill ${f.commands.join(' ')}; then repeat this command`
      : `stop them, which loses nothing: kill ${f.pid}; then repeat this command`,
  ]),
  E418: entry<{ reason: string }>(unreachable, (f) => [
    f.reason,
    'nothing is lost: repeat the command when Temporal answers; to check it: runsheet doctor',
  ]),
  E602: textFromThrower(usage),
  E603: entry<{ database: string; reason: string }>(unreachable, (f) => [
    `the local run service stopped: its database ${f.database} refused a write: ${f.reason}`,
    'no accepted run is lost; fix the cause and start the service again with the same --db file',
  ]),
  E604: entry<{ home: string; bytes: number }>(unreachable, (f) => [
    `the disk of ${f.home} has ${f.bytes} bytes left, too few for Temporal to save its state`,
    'nothing is lost: free disk space, then repeat the same command; for new batches, RUNSHEET_HOME may name another disk',
  ]),
  E605: entry<{ word: string; near?: string | undefined; help: string }>(usage, (f) => [
    `there is no ${f.word}`,
    sentences(didYouMean(f.near), f.help),
  ]),
  E606: entry<{ path: string; reason: string; hint: string }>(usage, (f) => [
    `${f.path} cannot be used: ${f.reason}`,
    f.hint,
  ]),
  E607: entry<{ path: string; reason: string }>(unreachable, (f) => [
    `the disk ${f.path === '' ? '' : `of ${f.path} `}is full: ${f.reason}`,
    'nothing is lost: free disk space, or name a folder on another disk, then repeat the same command',
  ]),
  E610: entry<object>(usage, () => [
    '--token is refused: every user of the machine can read the arguments of a command',
    'put the keys into a file, one per line, and use --token-file <file>; or set RUNSHEET_SERVICE_TOKEN',
  ]),
  E611: entry<{ file: string; why: string; hint?: string }>(usage, (f) => [
    `--token-file ${f.file} ${f.why}`,
    f.hint ?? 'write one key per line: <key>, or <owner>:<key>',
  ]),
  E614: entry<ServerHintFacts>(unreachable, unusableText),
  E615: entry<{ path: string; says: readonly string[] }>(usage, (f) => [
    `${f.path} is not trusted as it is now. It says: ${list(f.says, '; ')}`,
    `its author chooses where your rows go, and with which key. If you trust it: runsheet trust ${shellWord(f.path)}`,
  ]),
  E612: entry<{ place: string; reason: string; hint: string }>(unreachable, (f) => [
    `${f.place} cannot be used: ${f.reason}`,
    f.hint,
  ]),
} satisfies Record<string, ErrorEntry<never>>;
