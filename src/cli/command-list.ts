// Every command by its name: what it takes, what it says of itself, and where its work is found. Nothing heavy is loaded
// before a command is chosen.

import { buildApplication, buildRouteMap } from '@stricli/core';
import { OUTCOMES } from '../batch/outcome.ts';
import { command } from './command.ts';
import {
  api,
  boolean,
  choice,
  optional,
  out,
  output,
  port,
  quiet,
  repeatable,
  rowNumber,
  serviceFlags,
  sheetAliases,
  sheetFlags,
  time,
  words,
} from './flags.ts';
import { PARSER_TEXT } from './parser-faults.ts';
import { version } from './package-version.ts';

const one = (brief: string, placeholder: string) =>
  ({ kind: 'tuple', parameters: [{ brief, placeholder, parse: String }] }) as const;
const maybeOne = (brief: string, placeholder: string) =>
  ({ kind: 'tuple', parameters: [{ brief, placeholder, parse: String, optional: true }] }) as const;

const sheet = one('the sheet: .csv .tsv .jsonl .json, or - for stdin', 'sheet');
const batch = maybeOne('batch id or its beginning; the newest by itself', 'batch');
const alias = { o: 'output' } as const;

const onSheets = {
  run: command(
    async () => (await import('./run.ts')).run,
    { positional: sheet, flags: sheetFlags, aliases: sheetAliases },
    'validate a sheet, submit it, follow it until every row has its outcome',
    '<sheet> -d <deployment> [flags]',
  ),
  plan: command(
    async () => (await import('./plan.ts')).default,
    { positional: sheet, flags: sheetFlags, aliases: sheetAliases },
    'all that run does but submitting: rows, inputs, repeats, cost, first requests',
    '<sheet> -d <deployment> [flags]',
  ),
  submit: command(
    async () => (await import('./run.ts')).submit,
    { positional: sheet, flags: sheetFlags, aliases: sheetAliases },
    'validate and submit a sheet, print the batch id',
    '<sheet> -d <deployment> [flags]',
  ),
};

const onBatches = {
  list: command(
    async () => (await import('./status.ts')).list,
    { flags: { out, output }, aliases: alias },
    'all batches here, newest first',
  ),
  status: command(
    async () => (await import('./status.ts')).status,
    { positional: batch, flags: { out, output }, aliases: alias },
    'how far a batch is',
  ),
  watch: command(
    async () => (await import('./watch.ts')).watch,
    { positional: batch, flags: { out, quiet, output }, aliases: { o: 'output', q: 'quiet' } },
    'follow a batch until it is done',
  ),
  wait: command(
    async () => (await import('./watch.ts')).wait,
    {
      positional: batch,
      flags: {
        timeout: optional(time('give up after this long (exit 7); the batch goes on', '90s|30m|2h')),
        out,
        output,
      },
      aliases: alias,
    },
    'wait for a batch without a word, for scripts',
  ),
  rows: command(
    async () => (await import('./rows.ts')).rows,
    {
      positional: batch,
      flags: {
        outcome: {
          kind: 'enum',
          values: [...OUTCOMES, 'open'],
          optional: true,
          brief: 'only rows with this outcome',
        },
        fields: optional(words('columns: ours and inputs, with commas', 'a,b')),
        out,
        output: choice(['table', 'csv', 'jsonl', 'json'], 'table', 'form of the rows on stdout'),
      },
      aliases: alias,
    },
    'list the rows of a batch',
  ),
  show: command(
    async () => (await import('./rows.ts')).show,
    {
      positional: {
        kind: 'tuple',
        parameters: [
          { brief: 'batch id or its beginning', placeholder: 'batch', parse: String },
          { brief: 'row number, from 1', placeholder: 'row', parse: rowNumber },
        ],
      },
      flags: { out, output },
      aliases: alias,
    },
    'one row: inputs, attempts, runs, files',
  ),
  results: command(
    async () => (await import('./rows.ts')).results,
    {
      positional: batch,
      flags: { out, output: choice(['csv', 'jsonl', 'json'], 'csv', 'form of the results on stdout') },
      aliases: alias,
    },
    'print the results, also of a batch that runs',
  ),
  verify: command(
    async () => (await import('./verify.ts')).default,
    {
      positional: batch,
      flags: {
        files: { kind: 'boolean', default: true, brief: 'read every file too, and compare its checksum' },
        out,
        output,
      },
      aliases: alias,
    },
    'count a finished batch again: rows, requests, runs, files, and what the service lists',
  ),
  resume: command(
    async () => (await import('./resume.ts')).default,
    {
      positional: batch,
      flags: {
        unconfirmed: {
          kind: 'enum',
          values: ['unknown', 'fail', 'resubmit'],
          optional: true,
          brief: 'what to do with attempts that may have started a run',
        },
        recover: boolean('rebuild a batch that Temporal has forgotten'),
        out,
        output,
      },
      aliases: alias,
    },
    'let a paused batch go on',
  ),
  cancel: command(
    async () => (await import('./watch.ts')).cancel,
    {
      positional: one('batch id or its beginning', 'batch'),
      flags: { running: boolean('cancel the runs that are outstanding too'), out, output },
      aliases: alias,
    },
    'send nothing more of a batch',
  ),
};

const servers = {
  service: command(
    async () => (await import('./service.ts')).default,
    {
      flags: serviceFlags,
      aliases: alias,
    },
    'the local run service: real HTTP, pictures and webhooks, no GPU',
  ),
  worker: command(
    async () => (await import('./worker.ts')).default,
    {
      flags: {
        noReceiver: boolean('no webhook receiver'),
        receiverOnly: boolean('nothing but the webhook receiver'),
        embedded: { ...boolean('as a child of the embedded servers'), hidden: true },
        receiverPort: { ...optional(port('port of the receiver', 'port')), hidden: true },
      },
    },
    'a worker for a Temporal cluster',
  ),
  dev: command(
    async () => (await import('./dev.ts')).default,
    { flags: { out, output }, aliases: alias },
    'Temporal, run service, worker and receiver together, until Ctrl-C',
  ),
  doctor: command(
    async () => (await import('./doctor.ts')).default,
    { flags: { api, out, output }, aliases: alias },
    'check everything that a batch will need',
  ),
  migrateCheck: command(
    async () => (await import('./migrate-check.ts')).default,
    {
      flags: {
        deployment: sheetFlags.deployment,
        noRun: boolean('walk the rules without buying the verification run'),
        set: repeatable(words('value of an input of the verification run', 'input=value')),
        output,
      },
      aliases: { d: 'deployment', o: 'output' },
    },
    'what a move from V1 to V2 still needs; buys one run to see',
    '-d <deployment> [flags]',
  ),
  clean: command(
    async () => (await import('./clean.ts')).default,
    {
      flags: {
        olderThan: optional(time('batches that ended so long ago', '7d')),
        state: boolean("the embedded servers' state too: batches that are not done are lost"),
        yes: { ...boolean('remove; without it they are only listed') },
        out,
        output,
      },
      aliases: { o: 'output', y: 'yes' },
    },
    'take away old batches and what refused sheets left',
  ),
  embedded: command(
    async () => (await import('./embedded.ts')).default,
    { flags: {} },
    'the process behind the embedded servers',
  ),
};

const root = buildRouteMap({
  routes: { ...onSheets, ...onBatches, ...servers },
  docs: {
    brief: 'Brings every row of a sheet to exactly one outcome on a GPU workflow run service.',
    fullDescription: [
      'Brings every row of a sheet to exactly one outcome on a GPU workflow run service.',
      '',
      'Examples:',
      '  runsheet run prompts.csv -d portraits --local     rehearse; costs nothing',
      '  runsheet plan prompts.csv -d portrait-v3          look before you pay',
      '  runsheet run prompts.csv -d portrait-v3 -c 24     24 runs at once',
      '  runsheet rows --outcome failed -o csv             what went wrong',
      '',
      'Settings: RUNSHEET_API_URL, RUNSHEET_API_KEY or RUNSHEET_API_KEY_FILE, RUNSHEET_WEBHOOK_URL, TEMPORAL_ADDRESS',
      'Exit codes: 0 all rows succeeded, 2 usage, 3 some rows did not succeed or some rules of migrate-check do not hold, 4 not authenticated, 5 input refused,',
      '            6 a server cannot be reached, 7 waited until --timeout, 8 paused, 130 interrupted',
    ].join('\n'),
    hideRoute: { embedded: true },
  },
});

export const application = buildApplication(root, {
  name: 'runsheet',
  versionInfo: { currentVersion: version },
  scanner: { caseStyle: 'allow-kebab-for-camel' },
  documentation: {
    caseStyle: 'convert-camel-to-kebab',
    useAliasInUsageLine: true,
    onlyRequiredInUsageLine: true,
  },
  localization: { text: PARSER_TEXT },
});
