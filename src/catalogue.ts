// Every error a user can meet, as one table: its code, the exit code of the command, what is wrong and what helps. Words
// are composed here and nowhere else.

import { EXIT } from './exit.ts';

export type Entry<F> = { readonly exit: number; what(facts: F): string; hint(facts: F): string | undefined };

const entry = <F>(exit: number, what: Entry<F>['what'], hint: Entry<F>['hint']): Entry<F> => ({
  exit,
  what,
  hint,
});

const { usage, notAuthenticated, inputRefused, unreachable, unexpected, paused } = EXIT;

const list = (words: readonly string[]): string => words.join(', ');
const didYouMean = (near: string | undefined): string | undefined => near && `did you mean ${near}?`;

/** Whoever finds the error knows best how to say it. */
const said = (exit: number) =>
  entry<{ what: string; hint?: string }>(
    exit,
    (f) => f.what,
    (f) => f.hint,
  );

export const catalogue = {
  E101: entry<{ path: string; near: readonly string[] }>(
    inputRefused,
    (f) => `there is no sheet at ${f.path}`,
    (f) => (f.near.length > 0 ? `files like it: ${list(f.near)}` : undefined),
  ),
  E102: said(inputRefused),
  E103: said(inputRefused),
  E104: said(inputRefused),
  E105: entry<{ key: string; row: number; firstRow: number }>(
    inputRefused,
    (f) => `row ${f.row} has the key "${f.key}" that row ${f.firstRow} has already`,
    () =>
      'a key names a row for ever: choose another --key column, or leave --key out to name rows by content',
  ),
  E201: entry<{ what: string; allowed?: readonly string[]; near?: string | undefined }>(
    inputRefused,
    (f) => f.what,
    (f) =>
      [didYouMean(f.near), f.allowed && `allowed: ${f.allowed.join(' ')}`].filter(Boolean).join(' ') ||
      undefined,
  ),
  E202: entry<{ value: string; column: string; type: string; hint?: string }>(
    inputRefused,
    (f) => `${JSON.stringify(f.value)} in column "${f.column}" is not ${f.type}`,
    (f) => f.hint,
  ),
  E203: entry<{ input: string; columns: readonly string[]; near?: string | undefined; emptyIn?: string }>(
    inputRefused,
    (f) =>
      f.emptyIn === undefined
        ? `the deployment needs the input "${f.input}", and no column gives it`
        : `the deployment needs the input "${f.input}", and column "${f.emptyIn}" is empty in this row`,
    (f) =>
      f.emptyIn === undefined
        ? `columns of this sheet: ${list(f.columns)}; --map ${f.input}=${f.near ?? '<column>'} or --set ${f.input}=<value> gives it`
        : 'the input has no default: fill the cell, or take the row out of the sheet',
  ),
  E204: entry<{ column: string; inputs: readonly string[]; near?: string | undefined }>(
    inputRefused,
    (f) => `column "${f.column}" is not an input of the deployment`,
    (f) =>
      [didYouMean(f.near), `inputs: ${list(f.inputs)}; --drop ${f.column} leaves the column out`]
        .filter(Boolean)
        .join(' '),
  ),
  E206: entry<{ column: string; flag: string; columns: readonly string[]; near?: string | undefined }>(
    inputRefused,
    (f) => `column "${f.column}" of ${f.flag} is not in the sheet`,
    (f) => [didYouMean(f.near), `columns of this sheet: ${list(f.columns)}`].filter(Boolean).join(' '),
  ),
  E200: entry<{ rows: number; wrong: number; errorsFile?: string | undefined }>(
    inputRefused,
    (f) =>
      `the sheet was refused: ${f.wrong} ${f.wrong === 1 ? 'problem' : 'problems'} in ${f.rows} rows; nothing was sent`,
    (f) => (f.errorsFile ? `every problem is listed in ${f.errorsFile}` : undefined),
  ),
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
    () => undefined,
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
  E515: entry<{ batch: string; folder: string }>(
    inputRefused,
    (f) =>
      `this is not the workflow that batch ${f.batch} began with (started.json in ${f.folder}), or it was reset: it would send rows again`,
    (f) => `runsheet resume ${f.batch} --recover rebuilds the batch from its parts and the service's lists`,
  ),
  E602: said(usage),
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
