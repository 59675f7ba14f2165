// All errors that users can see; some groups have files of their own. The same code keeps its meaning for ever.
import { EXIT } from './exit-codes.ts';
import { didYouMean, entry, list, textFromThrower, type Entry } from './entry.ts';
import { APPLICATION_ENTRIES } from './application-codes.ts';
import { DEPLOYMENT_ENTRIES } from './deployment-codes.ts';
import { POOL_ENTRIES } from './pool-codes.ts';
import { REUSE_ENTRIES } from './reuse-codes.ts';
import { SERVICE_ENTRIES } from './service-codes.ts';
import { SCHEDULE_ENTRIES } from './schedule-codes.ts';
import { SHEET_ENTRIES } from './sheet-codes.ts';
import { STORE_ENTRIES } from './store-codes.ts';
import { shellWord } from './outside-text.ts';

const { usage, notAuthenticated, inputRefused, unreachable, unexpected, paused, waitedTooLong } = EXIT;
export const errorTable = {
  ...SHEET_ENTRIES,
  ...REUSE_ENTRIES,
  ...APPLICATION_ENTRIES,
  ...DEPLOYMENT_ENTRIES,
  ...POOL_ENTRIES,
  ...SERVICE_ENTRIES,
  ...SCHEDULE_ENTRIES,
  ...STORE_ENTRIES,
  E301: entry<{ status: number; detail: string; keyFrom: string; lastFour: string }>(
    notAuthenticated,
    (f) => `the run service answered ${f.status}: ${f.detail}`,
    (f) => `the key was read from ${f.keyFrom} and ends in ${f.lastFour}; put a valid key there`,
  ),
  E303: entry<{ wanted: string; base: string }>(
    inputRefused,
    (f) =>
      `the run service at ${f.base} cannot find deployments by name, and "${f.wanted}" is not a deployment id`,
    () => 'pass the deployment id, a UUID: -d <id>',
  ),
  E304: entry<{ base: string; reason: string }>(
    unreachable,
    (f) => `the run service at ${f.base} cannot be reached: ${f.reason}`,
    () => 'check RUNSHEET_API_URL and run: runsheet doctor. To rehearse without a run service, add --local',
  ),
  E305: entry<object>(
    usage,
    () => 'no run service is set',
    () =>
      'set RUNSHEET_API_URL and RUNSHEET_API_KEY, or add --local to rehearse on the local run service, which costs nothing',
  ),
  E306: entry<{ base: string }>(
    notAuthenticated,
    (f) => `no API key is set for ${f.base}`,
    () => 'set RUNSHEET_API_KEY, or RUNSHEET_API_KEY_FILE to a file that contains the key',
  ),
  E307: entry<{ base: string; answers: readonly string[] }>(
    usage,
    (f) =>
      `${f.base} responds, but not as a run service does:\n${f.answers.map((a) => `    ${a}`).join('\n')}`,
    () => 'set RUNSHEET_API_URL to the base address with its path, such as https://…/api',
  ),
  E308: entry<{ base: string; speaks: 'v1' | 'v2' }>(
    usage,
    (f) =>
      f.speaks === 'v1'
        ? `the run service at ${f.base} speaks V1, but V2 was requested`
        : `the run service at ${f.base} speaks V2, but V1 was requested`,
    (f) =>
      f.speaks === 'v1'
        ? 'set RUNSHEET_API_URL to its V2 address; if it is not migrated yet, add --api v1 or set RUNSHEET_API=v1'
        : 'remove --api v1 and RUNSHEET_API=v1: V2 guarantees more',
  ),
  E309: entry<{ from: string; why: string }>(
    notAuthenticated,
    (f) => `the API key from ${f.from} cannot be used: ${f.why}`,
    () =>
      'a key is one line of printable ASCII characters: set RUNSHEET_API_KEY to it, or RUNSHEET_API_KEY_FILE to a file that contains it',
  ),
  E310: entry<{ base: string; asked: string; what: string }>(
    unreachable,
    (f) => `the run service at ${f.base} sent an unexpected response to ${f.asked}: ${f.what}`,
    () => 'check RUNSHEET_API_URL and --api, then run: runsheet doctor',
  ),
  E311: entry<{ name: string; has: string; hint: string }>(
    inputRefused,
    (f) => `the deployment "${f.name}" has ${f.has}`,
    (f) => f.hint,
  ),
  E312: entry<{ what: string; hint: string }>(
    usage,
    (f) => `--max-cost cannot be kept: ${f.what}`,
    (f) => f.hint,
  ),
  E401: entry<{ address: string; from: string; reason: string }>(
    unreachable,
    (f) => `Temporal at ${f.address} (${f.from}) cannot be reached: ${f.reason}`,
    () => 'start it, or unset the address to use the embedded server; to check both: runsheet doctor',
  ),
  E402: entry<{ namespace: string; address: string }>(
    unreachable,
    (f) => `Temporal at ${f.address} has no namespace "${f.namespace}"`,
    (f) =>
      `create it with: temporal operator namespace create -n ${shellWord(f.namespace)} --address ${shellWord(f.address)}`,
  ),
  E403: entry<{ taskQueue: string; address: string }>(
    unreachable,
    (f) => `no worker polls the task queue ${f.taskQueue} at ${f.address}`,
    () => 'start one: runsheet worker',
  ),
  E405: entry<{ tried: readonly string[]; unwritable?: string | undefined }>(
    unreachable,
    (f) => `no Temporal server is available:\n${f.tried.map((t) => `    ${t}`).join('\n')}`,
    (f) =>
      `${f.unwritable === undefined ? '' : `this user cannot write ${f.unwritable}: set XDG_CACHE_HOME to a folder of your own. Or `}install the temporal command (1.9 or newer), or set TEMPORAL_ADDRESS to your Temporal server`,
  ),
  E406: entry<{ what: string; log: string }>(
    unreachable,
    (f) => `the embedded servers did not start: ${f.what}`,
    (f) => `see their log, ${f.log}; to check each part: runsheet doctor`,
  ),
  E407: entry<{ id: string; owner: string; known: readonly string[] }>(
    notAuthenticated,
    (f) =>
      `Temporal's data of ${f.owner || 'a batch'} is encrypted with the payload key ${f.id}, ${f.known.length > 0 ? `but only ${list(f.known)} is set here` : 'but no payload key is set here'}`,
    () =>
      'add that key to RUNSHEET_PAYLOAD_KEY or to the file RUNSHEET_PAYLOAD_KEY_FILE (embedded servers keep theirs in the file payload-key in RUNSHEET_HOME); until then the batch waits and no row fails',
  ),
  E408: entry<{ owner: string }>(
    notAuthenticated,
    (f) => `Temporal's data of ${f.owner || 'a batch'} is not encrypted, but the settings require encryption`,
    () =>
      'if the batch was started before you set a key, set RUNSHEET_PAYLOAD_PLAIN=read to accept it; otherwise something without the key wrote it',
  ),
  E409: entry<{ owner: string; why: string }>(
    notAuthenticated,
    (f) => `Temporal's data of ${f.owner || 'a batch'} was changed: ${f.why}`,
    () => 'someone with access to the Temporal namespace changed it, and none of it is used',
  ),
  E410: entry<{ address: string; workers: readonly string[]; own: string }>(
    unreachable,
    (f) => `workers at ${f.address} have other payload keys than this command (${f.own}): ${list(f.workers)}`,
    () =>
      'set the same RUNSHEET_PAYLOAD_KEY or RUNSHEET_PAYLOAD_KEY_FILE for all of them and this command, then restart the workers',
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
    isAmbiguous?: boolean;
  }>(
    usage,
    (f) => {
      if (f.batch === undefined) return `there is no batch in ${f.out}`;
      return f.isAmbiguous
        ? `several batches in ${f.out} begin with "${f.batch}"`
        : `there is no batch "${f.batch}" in ${f.out}`;
    },
    (f) =>
      [
        didYouMean(f.near),
        f.known.length > 0
          ? `batches here: ${list(f.known)}`
          : 'name the folder of the batches with --out <dir>; to make a batch, see: runsheet run --help',
      ]
        .filter(Boolean)
        .join(' '),
  ),
  E503: entry<{ batch: string; folder: string }>(
    inputRefused,
    (f) => `batch ${f.batch} in ${f.folder} was started, but Temporal no longer has it`,
    (f) => `rebuild it from its folder and the service's run list: runsheet resume ${f.batch} --recover`,
  ),
  E504: entry<{ what: string }>(
    inputRefused,
    (f) => f.what,
    () => 'the batch folder was changed: restore it from a copy, or make a new batch with --again',
  ),
  E505: entry<{ batch: string; row: number | string; rows: number }>(
    usage,
    (f) => `batch ${f.batch} has no row ${f.row}`,
    (f) => `its rows have the numbers 1 to ${f.rows}; list them: runsheet rows ${f.batch}`,
  ),
  E506: entry<{ batch: string; reason: string }>(
    unexpected,
    (f) => `batch ${f.batch} ended without a summary: ${f.reason}`,
    (f) => `list the rows that ended: runsheet rows ${f.batch}`,
  ),
  E507: entry<{ batch: string; folder: string }>(
    inputRefused,
    (f) => `Temporal already has batch ${f.batch}, with its results in ${f.folder}`,
    (f) =>
      `to attach to it, add: --out ${shellWord(f.folder)}; to make a new batch of the same sheet, add --again`,
  ),
  E508: entry<{ batch: string; folder: string; status: string }>(
    inputRefused,
    (f) => `the workflow of batch ${f.batch} is ${f.status.toLowerCase()}, but ${f.folder} has no results`,
    (f) =>
      `rebuild it from its folder and the service's run list: runsheet resume ${f.batch} --recover. A new batch (--again) pays for its rows again`,
  ),
  E509: entry<{ batch: string }>(
    usage,
    (f) => `batch ${f.batch} has not ended, so it cannot be verified yet`,
    (f) => `wait for its end: runsheet wait ${f.batch}; if no server runs it: runsheet resume ${f.batch}`,
  ),
  E510: entry<{ batch: string; wrong: readonly string[] }>(
    unexpected,
    (f) => `batch ${f.batch} does not add up: ${list(f.wrong)}`,
    () => "trust its parts and the service's run list, from which summary.json was computed",
  ),
  E511: entry<{ batch: string; reason: string }>(
    inputRefused,
    (f) => `batch ${f.batch} cannot be recovered: ${f.reason}`,
    (f) =>
      `its folder stays as it is; show it: runsheet status ${f.batch}. A new batch of the same sheet (--again) may pay for its rows twice`,
  ),
  E512: entry<{ batch: string; sinceMs: number }>(
    unreachable,
    (f) => `no worker has taken the tasks of batch ${f.batch} since ${new Date(f.sinceMs).toISOString()}`,
    () => 'start one: runsheet worker. Temporal keeps this command until then, and nothing is lost',
  ),
  E513: entry<{ batch: string }>(
    unexpected,
    (f) => `the workflow of batch ${f.batch} ended before it received the command`,
    (f) => `show its state: runsheet status ${f.batch}`,
  ),
  E514: entry<{ folder: string }>(
    inputRefused,
    (f) =>
      `the batch in ${f.folder} was made by an earlier version of runsheet, and this version cannot continue it`,
    () => 'finish it with the version that made it, or run its sheet again as a new batch',
  ),
  E515: entry<{ batch: string; folder: string }>(
    inputRefused,
    (f) =>
      `this is not the workflow that started batch ${f.batch} (see started.json in ${f.folder}), or it was reset; it would send rows again`,
    (f) =>
      `rebuild the batch from its folder and the service's run list: runsheet resume ${f.batch} --recover`,
  ),
  E516: entry<{ batch: string }>(
    unreachable,
    (f) => `batch ${f.batch} has not ended, and it is not running: none of this place's servers runs it`,
    (f) => `continue it: runsheet resume ${f.batch}`,
  ),
  E517: entry<{ batch: string; reason: string }>(
    usage,
    (f) => `batch ${f.batch} refused the command: ${f.reason}`,
    (f) => `show its state: runsheet status ${f.batch}`,
  ),
  E519: entry<{ batch: string; row: number; attempt: number | undefined }>(
    usage,
    (f) =>
      `row ${f.row} of ${f.batch} has no run${f.attempt === undefined ? '' : ` of attempt ${f.attempt}`} in the results yet`,
    (f) => `show its attempts: runsheet show ${f.batch} ${f.row}`,
  ),
  E518: entry<{ batch: string; seconds: number }>(
    waitedTooLong,
    (f) => `batch ${f.batch} did not confirm the command within ${f.seconds} s`,
    (f) =>
      `it takes effect when a worker has taken it and the requests on the wire are answered; show its state: runsheet status ${f.batch}`,
  ),
  E521: entry<{ batch: string; seconds: number }>(
    waitedTooLong,
    (f) => `batch ${f.batch} has not ended within ${f.seconds} s; it continues`,
    (f) => `show its state: runsheet status ${f.batch}`,
  ),
  E602: textFromThrower(usage),
  E603: entry<{ database: string; reason: string }>(
    unreachable,
    (f) => `the local run service stopped: its database ${f.database} refused a write: ${f.reason}`,
    () => 'no accepted run is lost; fix the cause and start the service again with the same --db file',
  ),
  E604: entry<{ home: string; bytes: number }>(
    unreachable,
    (f) => `the disk of ${f.home} has ${f.bytes} bytes left, too few for Temporal to save its state`,
    () =>
      'nothing is lost: free disk space, then repeat the same command; for new batches, RUNSHEET_HOME may name another disk',
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
    () => 'nothing is lost: free disk space, or name a folder on another disk, then repeat the same command',
  ),
} satisfies Record<string, Entry<never>>;
