// E5xx: a batch, the rows and results of earlier ones, pools, schedules.

import { didYouMean, entry, EXIT, list, sentences, textFromThrower } from './entry.ts';
import { shellWord } from './outside-text.ts';

const { usage, inputRefused, unreachable, unexpected, paused, waitedTooLong } = EXIT;

const eachWith = (verb: string, batches: readonly string[]): string =>
  batches.map((batch) => `runsheet ${verb} ${batch}`).join(' && ');

export const BATCH_ENTRIES = {
  E501: entry<{ batch: string; reason: string; hint: string }>(paused, (f) => [
    `batch ${f.batch} is paused: ${f.reason}`,
    `nothing is lost; ${f.hint}`,
  ]),
  E502: entry<{
    batch?: string | undefined;
    out: string;
    known: readonly string[];
    near?: string | undefined;
    isAmbiguous?: boolean;
    /** The folder of batches that contains the batch. */
    there?: string | undefined;
  }>(usage, (f) => [
    f.batch === undefined
      ? `there is no batch in ${f.out}${f.there === undefined ? '' : `; there are some in ${f.there}`}`
      : f.isAmbiguous
        ? `several batches in ${f.out} begin with "${f.batch}"`
        : `there is no batch "${f.batch}" in ${f.out}${f.there === undefined ? '' : `; it is in ${f.there}`}`,
    f.there === undefined
      ? sentences(
          didYouMean(f.near),
          f.known.length > 0
            ? `batches here: ${list(f.known)}`
            : 'name the folder of the batches with --out <dir>; to make a batch, see: runsheet run --help',
        )
      : `add: --out ${shellWord(f.there)}`,
  ]),
  E503: entry<{ batch: string; folder: string; had?: 'here' | 'unnamed' | { readonly home: string } }>(
    inputRefused,
    (f) => [
      f.had === 'unnamed'
        ? `batch ${f.batch} in ${f.folder} was started by servers that its folder does not name, and these servers do not have it`
        : typeof f.had === 'object'
          ? `batch ${f.batch} in ${f.folder} was run by the state folder ${f.had.home}, which is not there any more`
          : `batch ${f.batch} in ${f.folder} was started, but Temporal no longer has it`,
      `${f.had === 'unnamed' ? 'if no other servers run it, ' : ''}rebuild it from its folder and the service's run list: runsheet resume ${f.batch} --recover`,
    ],
  ),
  E504: entry<{ what: string }>(inputRefused, (f) => [
    f.what,
    'the batch folder was changed: restore it from a copy, or make a new batch with --again',
  ]),
  E505: entry<{ batch: string; row: number | string; rows: number }>(usage, (f) => [
    `batch ${f.batch} has no row ${f.row}`,
    `its rows have the numbers 1 to ${f.rows}; list them: runsheet rows ${f.batch}`,
  ]),
  E506: entry<{ batch: string; reason: string }>(unexpected, (f) => [
    `batch ${f.batch} ended without a summary: ${f.reason}`,
    `list the rows that ended: runsheet rows ${f.batch}`,
  ]),
  E507: entry<{ batch: string; folder: string; isGone?: boolean }>(inputRefused, (f) => [
    `Temporal already has batch ${f.batch}, with its results in ${f.folder}${f.isGone ? ', which was moved or removed' : ''}`,
    f.isGone
      ? `rebuild it from its folder and the service's run list: runsheet resume ${f.batch} --recover`
      : `to attach to it, add: --out ${shellWord(f.folder)}; to make a new batch of the same sheet, add --again`,
  ]),
  E508: entry<{ batch: string; folder: string; status: string }>(inputRefused, (f) => [
    `the workflow of batch ${f.batch} is ${f.status.toLowerCase()}, but ${f.folder} has no results`,
    `rebuild it from its folder and the service's run list: runsheet resume ${f.batch} --recover. A new batch (--again) pays for its rows again`,
  ]),
  E509: entry<{ batch: string }>(usage, (f) => [
    `batch ${f.batch} has not ended, so it cannot be verified yet`,
    `wait for its end: runsheet wait ${f.batch}; if no server runs it: runsheet resume ${f.batch}`,
  ]),
  E510: entry<{ batch: string; wrong: readonly string[] }>(unexpected, (f) => [
    `batch ${f.batch} does not add up: ${list(f.wrong)}`,
    "trust its parts and the service's run list, from which summary.json was computed",
  ]),
  E511: entry<{ batch: string; reason: string }>(inputRefused, (f) => [
    `batch ${f.batch} cannot be recovered: ${f.reason}`,
    `its folder stays as it is; show it: runsheet status ${f.batch}. A new batch of the same sheet (--again) may pay for its rows twice`,
  ]),
  E512: entry<{ batch: string; sinceMs: number }>(unreachable, (f) => [
    `no worker has taken the tasks of batch ${f.batch} since ${new Date(f.sinceMs).toISOString()}`,
    'start one: runsheet worker. Temporal keeps this command until then, and nothing is lost',
  ]),
  E513: entry<{ batch: string }>(unexpected, (f) => [
    `the workflow of batch ${f.batch} ended before it received the command`,
    `show its state: runsheet status ${f.batch}`,
  ]),
  E514: entry<{ folder: string }>(inputRefused, (f) => [
    `the batch in ${f.folder} was made by an earlier version of runsheet, and this version cannot continue it`,
    'finish it with the version that made it, or run its sheet again as a new batch',
  ]),
  E515: entry<{
    batch: string;
    folder: string;
    holder?: string | undefined;
    there?: string | undefined;
  }>(inputRefused, (f) =>
    f.holder === undefined
      ? [
          `this is not the workflow that started batch ${f.batch} (see started.json in ${f.folder}), or it was reset; it would send rows again`,
          `rebuild the batch from its folder and the service's run list: runsheet resume ${f.batch} --recover`,
        ]
      : [
          `${f.holder} has batch ${f.batch} (see started.json in ${f.folder}), so nothing is sent from here`,
          f.there === undefined ? `show its state: runsheet status ${f.batch}` : `show its state: ${f.there}`,
        ],
  ),
  E516: entry<{ batch: string }>(unreachable, (f) => [
    `batch ${f.batch} is interrupted: no server of this state folder is running it`,
    `continue it: runsheet resume ${f.batch}`,
  ]),
  E517: entry<{ batch: string; reason: string }>(usage, (f) => [
    `batch ${f.batch} refused the command: ${f.reason}`,
    `show its state: runsheet status ${f.batch}`,
  ]),
  E518: entry<{ batch: string; seconds: number }>(waitedTooLong, (f) => [
    `batch ${f.batch} did not confirm the command within ${f.seconds} s`,
    `it takes effect when a worker has taken it and the requests on the wire are answered; show its state: runsheet status ${f.batch}`,
  ]),
  E519: entry<{ batch: string; row: number; attempt: number | undefined }>(usage, (f) => [
    `row ${f.row} of ${f.batch} has no run${f.attempt === undefined ? '' : ` of attempt ${f.attempt}`} in the results yet`,
    `show its attempts: runsheet show ${f.batch} ${f.row}`,
  ]),
  E521: entry<{ batch: string; seconds: number }>(waitedTooLong, (f) => [
    `batch ${f.batch} has not ended within ${f.seconds} s; it continues`,
    `show its state: runsheet status ${f.batch}`,
  ]),
  E522: entry<{ batch: string; reason: string }>(unreachable, (f) => [
    `batch ${f.batch} adds up in its folder, but the run list of the service was not read: ${f.reason}`,
    `check the service: runsheet doctor; or leave the list out: runsheet verify ${f.batch} --no-lists`,
  ]),
  E530: entry<{
    rows: string;
    isVersionSure: boolean;
    left: number;
    all: number;
    reuse: string;
    again: string;
  }>(usage, (f) => [
    `${f.rows}${f.isVersionSure ? '' : '; the run service does not report whether the deployment has changed since'}`,
    `to reuse their results and run ${f.left} of ${f.all} rows:\n  ${f.reuse}\nto run all ${f.all} rows again:\n  ${f.again}`,
  ]),
  E558: entry<{ rows: string; keep: string; again: string }>(usage, (f) => [
    f.rows,
    `if the files are the same, to keep the results:\n  ${f.keep}\nif they are others, to run these rows again:\n  ${f.again}`,
  ]),
  E531: entry<{ rows: string; batches: readonly string[]; again?: string; trigger?: string }>(usage, (f) => [
    f.rows,
    `to wait${f.trigger === undefined ? ', and then repeat the command' : ''}:\n  ${eachWith('wait', f.batches)}\nto continue what no server runs:\n  ${eachWith('resume', f.batches)}\nto cancel instead:\n  ${eachWith('cancel', f.batches)}${f.trigger === undefined ? `\nto run all rows now, although these may be bought twice:\n  ${f.again}` : `\nthen, to fire again, which reuses what is done:\n  ${f.trigger}`}`,
  ]),
  E546: entry<{ rows: string; fetch: readonly string[]; reuse: string; again: string }>(usage, (f) => [
    f.rows,
    `to fetch them, which buys nothing, and then reuse them:\n  ${f.fetch.join('\n  ')}\n  ${f.reuse}\nto run all rows again, also these:\n  ${f.again}`,
  ]),
  E547: entry<{ limit: string; raise: string; keep?: string }>(usage, (f) => [
    f.limit,
    `with a limit that suffices for all rows:\n  ${f.raise}${f.keep === undefined ? '' : `\nto start with this limit, and to pause when it is spent:\n  ${f.keep}`}`,
  ]),
  E539: entry<{ rows: string; there: string; again: string }>(usage, (f) => [
    f.rows,
    `to continue that batch in its own folder:\n  ${f.there}\nto buy these rows again here:\n  ${f.again}`,
  ]),
  E545: entry<{ rows: string; batch: string; again: string }>(usage, (f) => [
    f.rows,
    `to go on with that batch, which keeps its version:\n  runsheet resume ${f.batch}\nto run all rows with the new version:\n  ${f.again}`,
  ]),
  E532: entry<{
    name: string;
    batch: string;
    missing: readonly string[];
    others: readonly string[];
    columns: readonly string[];
    near: string | undefined;
  }>(inputRefused, (f) => [
    `${f.name} does not have the columns of ${f.batch}: it ${[f.missing.length > 0 && `lacks ${list(f.missing)}`, f.others.length > 0 && `has ${list(f.others)}`].filter(Boolean).join(' and ')}`,
    sentences(didYouMean(f.near), `columns of the batch: ${list(f.columns)}`),
  ]),
  E533: entry<{ name: string; batch: string; count: number; rows: readonly string[] }>(inputRefused, (f) => [
    `${f.count} ${f.count === 1 ? 'row' : 'rows'} of ${f.name} would change what ${f.batch} has bought or is running: ${f.rows.join(', ')}${f.count > f.rows.length ? ', …' : ''}; nothing was sent`,
    `take these rows out of the sheet, or give them keys of their own; to see what they have: runsheet rows ${f.batch}. To buy one of them again with other inputs, see: runsheet retry --help`,
  ]),
  E534: entry<{ name: string; batch: string; into: string; again: string }>(usage, (f) => [
    `the rows of ${f.name} are rows of ${f.batch}`,
    `to send those that you changed again, in that batch:\n  ${f.into}\nto make a new batch of them:\n  ${f.again}`,
  ]),
  E538: entry<{ batch: string; rows: number; reuse: string; again: string }>(usage, (f) => [
    `batch ${f.batch} has these ${f.rows} rows, and has ended`,
    `to read its results: ${f.reuse}\nto run all rows again: ${f.again}`,
  ]),
  E540: entry<{ pool: string; known: readonly string[]; near: string | undefined }>(usage, (f) => [
    `there is no pool "${f.pool}"`,
    sentences(
      didYouMean(f.near),
      f.known.length > 0 ? `pools: ${list(f.known)};` : undefined,
      `make it, for example with 8 slots: runsheet pool set ${f.pool} --size 8`,
    ),
  ]),
  E541: entry<{ pool: string; batch: string; members: readonly string[] }>(usage, (f) => [
    `batch ${f.batch} is not in pool ${f.pool}`,
    f.members.length > 0 ? `its batches: ${list(f.members)}` : `no batch is in pool ${f.pool}`,
  ]),
  E542: entry<{ pool: string; batch: string }>(usage, (f) => [
    `batch ${f.batch} is running, so pool ${f.pool} does not release its slots`,
    `it gives them back as its runs end; to send nothing more of it: runsheet cancel ${f.batch}`,
  ]),
  E543: entry<{ pool: string; seconds: number }>(waitedTooLong, (f) => [
    `pool ${f.pool} did not confirm the command within ${f.seconds} s`,
    `it takes effect when a worker has taken it: start one with runsheet worker; show it: runsheet pool show ${f.pool}`,
  ]),
  E544: entry<object>(unreachable, () => [
    'pools can be read only while the servers on this machine are running, and they are not',
    'start them, and keep them running in another terminal: runsheet dev',
  ]),
  E548: entry<{
    batch: string;
    /** The state of the servers, and their name. */
    are: 'running' | 'idle' | 'away' | 'strange';
    servers: string;
    host: string;
    pid: number | undefined;
    version: string | undefined;
    /** The settings of a command that reaches these servers. */
    settings: string;
  }>(inputRefused, (f) => {
    const advice =
      f.settings === '' ? 'give the command there' : `to give it this command, set ${f.settings}`;
    const lost = `if they are gone for good: runsheet resume ${f.batch} --recover`;
    switch (f.are) {
      case 'running':
        return [
          `batch ${f.batch} is run by other servers: those of ${f.servers} (pid ${f.pid}, version ${f.version ?? 'unknown'})`,
          advice,
        ];
      case 'idle':
        return [
          `batch ${f.batch} belongs to other servers, which do not run now: those of ${f.servers}`,
          advice,
        ];
      case 'away':
        return [
          `batch ${f.batch} was started by other servers, which this command cannot ask: ${f.servers}, from ${f.host}`,
          `${advice}; ${lost}`,
        ];
      case 'strange':
        return [
          `batch ${f.batch} was started by the servers of ${f.servers}; this command does not contact them, because you did not create that folder`,
          `give the command as the user of that folder; ${lost}`,
        ];
    }
  }),
  E549: entry<{ rows: string; again: string }>(usage, (f) => [
    `this may buy runs a second time: ${f.rows}`,
    `if that is meant:\n  ${f.again}`,
  ]),
  E550: textFromThrower(usage),
  E551: entry<{ batch: string }>(usage, (f) => [
    `batch ${f.batch} has not ended, so its results cannot be a sheet yet`,
    `wait for its end: runsheet wait ${f.batch}; if no server runs it: runsheet resume ${f.batch}`,
  ]),
  E552: entry<{
    name: string;
    batch: string;
    column: string;
    count: number;
    first: readonly string[];
    near: string | undefined;
    wrong: string;
  }>(inputRefused, (f) => [
    `${f.count} ${f.count === 1 ? 'row' : 'rows'} of ${f.name} ${f.count === 1 ? 'is' : 'are'} not in batch ${f.batch}: ${f.column} ${list(f.first)}${f.count > f.first.length ? ', …' : ''}`,
    `${f.near === undefined ? '' : `did you mean ${f.near} for ${f.wrong}? `}list the rows: runsheet rows ${f.batch}`,
  ]),
  E553: entry<{ batch: string; rows: number; where: string; outcomes: string }>(inputRefused, (f) => [
    `no row of batch ${f.batch} matches ${f.where}`,
    `its ${f.rows} rows: ${f.outcomes}; list them: runsheet rows ${f.batch}`,
  ]),
  E554: entry<{ at: string; what: string; deadline: string }>(inputRefused, (f) => [
    `the run service gives ${f.what} addresses that expire at ${f.at}; a row that is sent later would run without its input and be paid for`,
    `to pause the batch before that, add: --deadline ${f.deadline}. For more rows than fit into that time, copy the files to a place of your own and make a sheet with their addresses`,
  ]),
  E555: entry<{ file: string; why: string }>(inputRefused, (f) => [
    `${f.file} cannot be an input: ${f.why}`,
    'copy the files to a place that the run service can read, and make a sheet with their addresses',
  ]),
  E556: textFromThrower(inputRefused),
  E557: entry<{ batch: string; keys: readonly string[]; near: string | undefined }>(usage, (f) => [
    `batch ${f.batch} has no row with the ${f.keys.length === 1 ? 'key' : 'keys'} ${list(f.keys)}`,
    sentences(didYouMean(f.near), `list its rows: runsheet rows ${f.batch}`),
  ]),
  E560: entry<{ name: string; known: readonly string[]; near: string | undefined }>(usage, (f) => [
    `there is no schedule ${f.name}`,
    sentences(didYouMean(f.near), f.known.length > 0 ? `schedules: ${list(f.known)}` : undefined) ||
      'to make one, see: runsheet schedule create --help',
  ]),
  E561: entry<{ name: string; reason: string }>(usage, (f) => [
    `a firing of the schedule ${f.name} was refused: ${f.reason}; it bought nothing`,
    `if you want its batch: runsheet schedule trigger ${f.name}; if the state folder is new, create the schedule again with --replace`,
  ]),
  E562: entry<{ name: string; changes: readonly string[] }>(usage, (f) => [
    `the schedule ${f.name} exists already and differs: ${list(f.changes, '; ')}`,
    'to change it, add --replace; otherwise choose another name',
  ]),
  E563: entry<{ schedules: readonly string[] }>(usage, (f) => [
    `the job files change or delete schedules that exist: ${list(f.schedules)}`,
    'what differs is above; to do it, add --yes',
  ]),
  E565: entry<{ name: string; known: readonly string[]; near: string | undefined }>(usage, (f) => [
    `there is no pipeline ${f.name || 'here yet'}`,
    didYouMean(f.near) ??
      (f.known.length === 0
        ? 'a pipeline is started by a job file with stages: docs/pipelines.md'
        : `pipelines: ${list(f.known)}`),
  ]),
  E566: entry<{ pipeline: string; stage: string; changes: readonly string[] }>(usage, (f) => [
    `stage ${f.stage} of pipeline ${f.pipeline} was made with other settings: ${list(f.changes, '; ')}`,
    'a stage that was made keeps its own; to make all stages again, give the pipeline another name in its job',
  ]),
  E570: entry<{ a: string; b: string; by: string; other: string | undefined }>(inputRefused, (f) => [
    `${f.a} and ${f.b} share no row: no two rows have the same ${f.other === undefined ? 'key, nor the same inputs' : f.by}`,
    f.other === undefined
      ? `show what they have: runsheet rows ${f.a}; and: runsheet rows ${f.b}`
      : `pair them otherwise: runsheet compare ${f.a} ${f.b} --by ${f.other}`,
  ]),
} as const;
