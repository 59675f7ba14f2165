// Every error a user can meet, as one table: its code, the exit code of the command, what is wrong and what helps. Words
// are composed here and nowhere else.

import { EXIT } from './exit-codes.ts';
import { didYouMean, entry, list, saidThere, type Entry } from './entry.ts';
import { SHEET_ENTRIES } from './sheet-codes.ts';

const { usage, notAuthenticated, inputRefused, unreachable, unexpected, paused } = EXIT;

export const catalogue = {
  ...SHEET_ENTRIES,
  E301: entry<{ status: number; detail: string; keyFrom: string; lastFour: string }>(
    notAuthenticated,
    (f) => `the run service answered ${f.status}: ${f.detail}`,
    (f) => `the key was read from ${f.keyFrom} and ends in ${f.lastFour}; give a valid one there`,
  ),
  E302: entry<{ wanted: string; base: string; known: readonly string[]; near?: string | undefined }>(
    inputRefused,
    (f) => `the run service at ${f.base} has no deployment "${f.wanted}"`,
    (f) =>
      [didYouMean(f.near), f.known.length > 0 ? `deployments: ${list(f.known)}` : undefined]
        .filter(Boolean)
        .join(' ') || 'give -d the deployment id, a uuid',
  ),
  E303: entry<{ wanted: string; base: string }>(
    inputRefused,
    (f) => `the run service at ${f.base} looks no deployment up by its name, and "${f.wanted}" is no id`,
    () => 'give -d the deployment id, a uuid',
  ),
  E304: entry<{ base: string; reason: string }>(
    unreachable,
    (f) => `the run service at ${f.base} cannot be reached: ${f.reason}`,
    () => 'check RUNSHEET_API_URL, or rehearse with --local; runsheet doctor tells what answers',
  ),
  E305: entry<object>(
    usage,
    () => 'no run service is set',
    () => 'set RUNSHEET_API_URL and RUNSHEET_API_KEY, or add --local to rehearse on the local run service',
  ),
  E306: entry<{ base: string }>(
    notAuthenticated,
    (f) => `no API key is set for ${f.base}`,
    () => 'set RUNSHEET_API_KEY, or RUNSHEET_API_KEY_FILE to a file that holds it',
  ),
  E307: entry<{ base: string; answers: readonly string[] }>(
    usage,
    (f) =>
      `${f.base} answers, but not as a run service does:\n${f.answers.map((a) => `    ${a}`).join('\n')}`,
    () => 'RUNSHEET_API_URL is the base address with its path, such as https://…/api',
  ),
  E308: entry<{ base: string; speaks: 'v1' | 'v2' }>(
    usage,
    (f) =>
      f.speaks === 'v1'
        ? `the run service at ${f.base} speaks V1, and V2 was asked for`
        : `the run service at ${f.base} speaks V2, and V1 was asked for`,
    (f) =>
      f.speaks === 'v1'
        ? 'give its V2 address; until it is migrated, --api v1 or RUNSHEET_API=v1 makes do with V1'
        : 'leave --api v1 and RUNSHEET_API=v1 out: V2 guarantees more',
  ),
  E309: entry<{ from: string; why: string }>(
    notAuthenticated,
    (f) => `the API key of ${f.from} cannot be used: ${f.why}`,
    () =>
      'a key is one line of letters, digits and signs: set RUNSHEET_API_KEY to it, or RUNSHEET_API_KEY_FILE to a file that holds it',
  ),
  E310: entry<{ base: string; asked: string; what: string }>(
    unreachable,
    (f) => `the run service at ${f.base} answered ${f.asked} with something else than expected: ${f.what}`,
    () => 'check RUNSHEET_API_URL and --api; runsheet doctor tells what answers',
  ),
  E311: entry<{ name: string; has: string; hint: string }>(
    inputRefused,
    (f) => `the deployment "${f.name}" has ${f.has}`,
    (f) => f.hint,
  ),
  E401: entry<{ address: string; from: string; reason: string }>(
    unreachable,
    (f) => `Temporal at ${f.address} (${f.from}) cannot be reached: ${f.reason}`,
    () => 'start it, or leave the address out to use the embedded server; runsheet doctor checks both',
  ),
  E402: entry<{ namespace: string; address: string }>(
    unreachable,
    (f) => `Temporal at ${f.address} has no namespace "${f.namespace}"`,
    (f) => `temporal operator namespace create -n ${f.namespace} --address ${f.address}`,
  ),
  E403: entry<{ taskQueue: string; address: string }>(
    unreachable,
    (f) => `no worker polls the task queue ${f.taskQueue} at ${f.address}`,
    () => 'start one with: runsheet worker',
  ),
  E405: entry<{ tried: readonly string[] }>(
    unreachable,
    (f) => `no Temporal server could be had:\n${f.tried.map((t) => `    ${t}`).join('\n')}`,
    () =>
      'install the temporal command (1.9 or newer) on the PATH, or set TEMPORAL_ADDRESS to a server of yours',
  ),
  E406: entry<{ what: string; log: string }>(
    unreachable,
    (f) => `the embedded servers did not start: ${f.what}`,
    (f) => `their words are in ${f.log}; runsheet doctor checks each part`,
  ),
  E407: entry<{ id: string; owner: string; known: readonly string[] }>(
    notAuthenticated,
    (f) =>
      `what Temporal has of ${f.owner || 'a batch'} is encrypted with the key ${f.id}, ${f.known.length > 0 ? `and only ${list(f.known)} is set here` : 'and no key is set here'}`,
    () =>
      'add that key to RUNSHEET_PAYLOAD_KEY or the file of RUNSHEET_PAYLOAD_KEY_FILE (embedded servers have theirs in payload-key in RUNSHEET_HOME); no row fails meanwhile',
  ),
  E408: entry<{ owner: string }>(
    notAuthenticated,
    (f) =>
      `what Temporal has of ${f.owner || 'a batch'} is not encrypted, and the settings ask for encryption`,
    () =>
      'somebody without the key wrote it, or the batch was begun without a key: where you set the key yourself, RUNSHEET_PAYLOAD_PLAIN=read reads such batches too',
  ),
  E409: entry<{ owner: string; why: string }>(
    notAuthenticated,
    (f) => `what Temporal has of ${f.owner || 'a batch'} is not what was written: ${f.why}`,
    () => 'somebody with access to the Temporal namespace changed it; nothing of it is believed',
  ),
  E410: entry<{ address: string; workers: readonly string[]; own: string }>(
    unreachable,
    (f) =>
      `at ${f.address} there are workers whose payload keys do not fit ours (${f.own}): ${list(f.workers)}`,
    () =>
      'give them and this command the same RUNSHEET_PAYLOAD_KEY or RUNSHEET_PAYLOAD_KEY_FILE and start them again',
  ),
  E411: entry<{ folder: string; out: string }>(
    inputRefused,
    (f) => `this worker does not use ${f.folder}: it is not in ${f.out}`,
    (f) =>
      `start the worker with RUNSHEET_OUT=${f.folder.replace(/[/\\][^/\\]*$/, '')} and give the command --again; with embedded servers, --out does both`,
  ),
  E501: entry<{ batch: string; reason: string; hint: string }>(
    paused,
    (f) => `batch ${f.batch} is paused: ${f.reason}`,
    (f) => `nothing is lost; ${f.hint}`,
  ),
  E502: entry<{
    batch?: string | undefined;
    out: string;
    known: readonly string[];
    near?: string | undefined;
  }>(
    usage,
    (f) =>
      f.batch === undefined ? `there is no batch in ${f.out}` : `there is no batch "${f.batch}" in ${f.out}`,
    (f) =>
      [
        didYouMean(f.near),
        f.known.length > 0
          ? `batches here: ${list(f.known)}`
          : 'make one with runsheet run, or name the folder of another place with --out',
      ]
        .filter(Boolean)
        .join(' '),
  ),
  E503: entry<{ batch: string; folder: string }>(
    inputRefused,
    (f) => `batch ${f.batch} was begun in ${f.folder}, but Temporal does not know it any more`,
    (f) =>
      `runsheet resume ${f.batch} --recover rebuilds it from its parts and the service's lists; --again starts a new batch`,
  ),
  E504: entry<{ what: string }>(
    inputRefused,
    (f) => f.what,
    () => "somebody changed the batch's folder: restore it from a copy, or make a new batch with --again",
  ),
  E505: entry<{ batch: string; row: number; rows: number }>(
    usage,
    (f) => `batch ${f.batch} has no row ${f.row}`,
    (f) => `its rows are 1 to ${f.rows}`,
  ),
  E506: entry<{ batch: string; reason: string }>(
    unexpected,
    (f) => `batch ${f.batch} ended without a summary: ${f.reason}`,
    () => 'its folder holds the rows that ended; runsheet rows shows them',
  ),
  E507: entry<{ batch: string; folder: string }>(
    inputRefused,
    (f) => `Temporal knows batch ${f.batch} already, with its results in ${f.folder}`,
    () => '--out with that folder attaches to it; --again or --name makes a new batch of the same sheet',
  ),
  E508: entry<{ batch: string; folder: string; status: string }>(
    inputRefused,
    (f) => `Temporal has batch ${f.batch} as ${f.status.toLowerCase()}, but ${f.folder} has no results of it`,
    () => 'its rows may have run; --again starts a new batch of the same sheet',
  ),
  E509: entry<{ batch: string }>(
    usage,
    (f) => `batch ${f.batch} is not done yet, so that there is nothing to verify`,
    (f) => `runsheet watch ${f.batch} follows it to its end`,
  ),
  E510: entry<{ batch: string; wrong: readonly string[] }>(
    unexpected,
    (f) => `batch ${f.batch} does not add up: ${list(f.wrong)}`,
    () => 'its parts and the lists of the service are the truth; summary.json was made of them',
  ),
  E511: entry<{ batch: string; reason: string }>(
    inputRefused,
    (f) => `batch ${f.batch} cannot be recovered: ${f.reason}`,
    () => '--again starts a new batch of the same sheet, which may buy its rows twice',
  ),
  E512: entry<{ batch: string; sinceMs: number }>(
    unreachable,
    (f) => `no worker has done what batch ${f.batch} waits for since ${new Date(f.sinceMs).toISOString()}`,
    () => 'start one with: runsheet worker; what the batch was told waits in Temporal, and nothing is lost',
  ),
  E513: entry<{ batch: string }>(
    unexpected,
    (f) => `the workflow of batch ${f.batch} has ended, and did not hear the order`,
    (f) => `runsheet status ${f.batch} says how it stands`,
  ),
  E514: entry<{ folder: string }>(
    inputRefused,
    (f) =>
      `the batch in ${f.folder} was made by an earlier version, whose batches this one does not continue`,
    () => 'finish it with the version that made it, or give its sheet again for a new batch',
  ),
  E515: entry<{ batch: string; folder: string }>(
    inputRefused,
    (f) =>
      `this is not the workflow that batch ${f.batch} was started with (started.json in ${f.folder}), or it was reset: it would send rows again`,
    (f) => `runsheet resume ${f.batch} --recover rebuilds the batch from its parts and the service's lists`,
  ),
  E602: saidThere(usage),
  E603: entry<{ database: string; reason: string }>(
    unreachable,
    (f) => `the local run service stopped: its database ${f.database} refused a write: ${f.reason}`,
    () => 'no accepted run is lost; mend the cause and start it again on the same file',
  ),
  E604: entry<{ home: string; bytes: number }>(
    unreachable,
    (f) => `the disk of ${f.home} has ${f.bytes} bytes left, so that Temporal cannot keep its state`,
    () =>
      'nothing is lost; make room, or set RUNSHEET_HOME to another disk for new batches, and give the same command again',
  ),
  E605: entry<{ word: string; near?: string | undefined; help: string }>(
    usage,
    (f) => `there is no ${f.word}`,
    (f) => [didYouMean(f.near), f.help].filter(Boolean).join(' '),
  ),
  E606: entry<{ path: string; reason: string; hint: string }>(
    usage,
    (f) => `${f.path} cannot be used: ${f.reason}`,
    (f) => f.hint,
  ),
  E607: entry<{ path: string; reason: string }>(
    unreachable,
    (f) => `the disk ${f.path === '' ? '' : `of ${f.path} `}is full: ${f.reason}`,
    () => 'nothing is lost: make room, or name a folder on another disk, and give the same command again',
  ),
  E610: entry<object>(
    usage,
    () => '--token is refused: every user of the machine can read the arguments of a command',
    () => 'put the keys into a file, one a line, and give --token-file <file>; or set RUNSHEET_SERVICE_TOKEN',
  ),
  E611: entry<{ file: string; why: string }>(
    usage,
    (f) => `--token-file ${f.file} ${f.why}`,
    () => 'the file has one key a line: <key>, or <owner>:<key>',
  ),
} satisfies Record<string, Entry<never>>;
