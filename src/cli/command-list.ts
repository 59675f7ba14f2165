// Lists every command with its arguments, its help and the module that does its work. A module is loaded only when its
// command is chosen, which keeps --help fast.

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
  textFlag,
} from './flags.ts';
import { PARSER_TEXT } from './parser-faults.ts';
import { version } from './package-version.ts';

const one = (brief: string, placeholder: string) =>
  ({ kind: 'tuple', parameters: [{ brief, placeholder, parse: String }] }) as const;
const maybeOne = (brief: string, placeholder: string) =>
  ({ kind: 'tuple', parameters: [{ brief, placeholder, parse: String, optional: true }] }) as const;

const sheet = one('the sheet: .csv .tsv .jsonl .json, or - for stdin', 'sheet');
const batch = maybeOne('batch id or the beginning of one (default: the newest batch)', 'batch');
const alias = { o: 'output' } as const;

const onSheets = {
  run: command(
    async () => (await import('./run.ts')).run,
    { positional: sheet, flags: sheetFlags, aliases: sheetAliases },
    'check a sheet, send it, and follow it until every row has an outcome',
    '<sheet> -d <deployment> [flags]',
  ),
  plan: command(
    async () => (await import('./plan.ts')).default,
    { positional: sheet, flags: sheetFlags, aliases: sheetAliases },
    'check a sheet and show the cost, without sending anything',
    '<sheet> -d <deployment> [flags]',
  ),
  submit: command(
    async () => (await import('./run.ts')).submit,
    { positional: sheet, flags: sheetFlags, aliases: sheetAliases },
    'check a sheet, start its batch, and print the batch id',
    '<sheet> -d <deployment> [flags]',
  ),
};

const onBatches = {
  list: command(
    async () => (await import('./status.ts')).list,
    { flags: { out, output }, aliases: alias },
    'list the batches, newest first',
  ),
  status: command(
    async () => (await import('./status.ts')).status,
    { positional: batch, flags: { out, output }, aliases: alias },
    'show the progress of a batch',
  ),
  watch: command(
    async () => (await import('./watch.ts')).watch,
    { positional: batch, flags: { out, quiet, output }, aliases: { o: 'output', q: 'quiet' } },
    'follow a batch until it ends',
  ),
  wait: command(
    async () => (await import('./watch.ts')).wait,
    {
      positional: batch,
      flags: {
        timeout: optional(
          time(
            'time',
            'stop waiting after this long, such as 2h, with exit code 7; the batch continues (default: no limit)',
          ),
        ),
        out,
        output,
      },
      aliases: alias,
    },
    'wait silently until a batch ends (for scripts)',
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
          brief: 'only rows with this outcome; open: rows without one (default: all)',
        },
        fields: optional(
          textFlag('a,b', 'columns to print: result columns and inputs (default: a selection)'),
        ),
        out,
        output: choice(['table', 'csv', 'jsonl', 'json'], 'table', 'format of the rows on stdout'),
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
          { brief: 'batch id or the beginning of one', placeholder: 'batch', parse: String },
          { brief: 'row number, from 1', placeholder: 'row', parse: rowNumber },
        ],
      },
      flags: { out, output },
      aliases: alias,
    },
    'show one row: inputs, attempts, runs, files',
  ),
  results: command(
    async () => (await import('./rows.ts')).results,
    {
      positional: batch,
      flags: { out, output: choice(['csv', 'jsonl', 'json'], 'csv', 'format of the results on stdout') },
      aliases: alias,
    },
    'print the results, also while the batch runs',
  ),
  verify: command(
    async () => (await import('./verify.ts')).default,
    {
      positional: batch,
      flags: {
        files: { kind: 'boolean', default: true, brief: 'also read every file and compare its checksum' },
        out,
        output,
      },
      aliases: alias,
    },
    "check a finished batch against its files and the service's run list",
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
          brief:
            'what to do with attempts that may have started a run (default: keep waiting); resubmit may buy a row twice',
        },
        recover: boolean('rebuild a batch that Temporal lost or that no longer responds'),
        out,
        output,
      },
      aliases: alias,
    },
    'continue a paused batch',
  ),
  cancel: command(
    async () => (await import('./watch.ts')).cancel,
    {
      positional: one('batch id or the beginning of one', 'batch'),
      flags: { running: boolean('also cancel the runs that have been sent'), out, output },
      aliases: alias,
    },
    'send no more rows of a batch',
  ),
};

const servers = {
  service: command(
    async () => (await import('./service.ts')).default,
    {
      flags: serviceFlags,
      aliases: alias,
    },
    'start the local run service: real HTTP, pictures and webhooks, no GPU',
  ),
  worker: command(
    async () => (await import('./worker.ts')).default,
    {
      flags: {
        noReceiver: boolean('do not start a webhook receiver'),
        receiverOnly: boolean('start only the webhook receiver'),
        embedded: { ...boolean('run as a child of the embedded servers'), hidden: true },
        receiverPort: { ...optional(port('port', 'port of the receiver')), hidden: true },
      },
    },
    'start a worker for a Temporal cluster',
  ),
  dev: command(
    async () => (await import('./dev.ts')).default,
    { flags: { out, output }, aliases: alias },
    'start Temporal, run service, worker and receiver together, until Ctrl-C',
  ),
  doctor: command(
    async () => (await import('./doctor.ts')).default,
    { flags: { api, out, output }, aliases: alias },
    'check everything that a batch needs',
  ),
  migrateCheck: command(
    async () => (await import('./migrate-check.ts')).default,
    {
      flags: {
        deployment: sheetFlags.deployment,
        noRun: boolean('check the rules without buying the verification run'),
        set: repeatable(textFlag('input=value', 'set an input of the verification run')),
        output,
      },
      aliases: { d: 'deployment', o: 'output' },
    },
    'check what a migration from V1 to V2 still needs; buys one run',
    '-d <deployment> [flags]',
  ),
  clean: command(
    async () => (await import('./clean.ts')).default,
    {
      flags: {
        olderThan: optional(
          time('time', 'remove batches that ended longer ago than this, such as 7d (default: none)'),
        ),
        state: boolean("also remove the embedded servers' state; unfinished batches are lost"),
        yes: { ...boolean('remove the paths instead of only listing them') },
        out,
        output,
      },
      aliases: { o: 'output', y: 'yes' },
    },
    'remove old batches and what refused sheets left behind',
  ),
  embedded: command(
    async () => (await import('./embedded.ts')).default,
    { flags: {} },
    'run the embedded servers',
  ),
};

const root = buildRouteMap({
  routes: { ...onSheets, ...onBatches, ...servers },
  docs: {
    brief: 'Runs every row of a sheet as a GPU job, and never pays for the same row twice by accident.',
    fullDescription: [
      'Runs every row of a sheet as a GPU job, and never pays for the same row twice by accident.',
      '',
      'Examples:',
      '  runsheet run prompts.csv -d portraits --local     rehearse; costs nothing',
      '  runsheet plan prompts.csv -d portrait-v3          look before you pay',
      '  runsheet run prompts.csv -d portrait-v3 -c 24     24 runs at the same time',
      '  runsheet rows --outcome failed -o csv             list the failed rows',
      '',
      'Settings: RUNSHEET_API_URL, RUNSHEET_API_KEY or RUNSHEET_API_KEY_FILE, RUNSHEET_WEBHOOK_URL, TEMPORAL_ADDRESS',
      'Exit codes: 0 all rows succeeded, 2 usage, 3 some rows did not succeed or migrate-check found a broken rule,',
      '            4 not authenticated, 5 refused: this command sent nothing, 6 a server cannot be reached or a disk is full,',
      '            7 --timeout reached, 8 paused, 130 interrupted',
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
