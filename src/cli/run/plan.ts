// plan: checks the sheet and shows rows, cost and first requests, without sending anything.

import type { Config } from '../../host/config.ts';
import { EXIT, list, problem } from '../../errors/error.ts';
import type { DraftBatch, EarlierBatches } from '../../create-batch/create-batch.ts';
import { propose } from '../../create-batch/propose.ts';
import {
  doneText,
  knownText,
  openText,
  questionText,
  sumOf,
  type Question,
} from '../../create-batch/questions.ts';
import { shortened, terminalJson, terminalLine } from '../../errors/outside-text.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import type { SheetFlags } from '../flags/flags.ts';
import { fromNotes, refuseBothSheets, sourceOf } from './from.ts';
import { isInto, planInto } from './into.ts';
import { keepPlan } from '../../create-batch/answers/plan-answers.ts';
import { checkFlags, configOf, requestOf } from '../flags/batch-options.ts';
import { canaryPlanLines } from './canary.ts';
import { limitsOfV1, printBatch, webhooksArrive } from './batch-plan.ts';
import { estimateOf, type Estimate } from '../../library/start/estimate.ts';
import { draftOf, firstRequests } from '../../library/start/batch-plan.ts';
import { forecastLines } from './forecast.ts';
import { sameCommand, sayNext } from '../next-command.ts';
import { ServersNeeded } from './servers-needed.ts';
import { count, money, plural, span } from '../format.ts';
import { planJson } from '../json/plan.ts';

type Flags = SheetFlags & { readonly save: boolean };

export default async function plan(this: Context, flags: Flags, sheet?: string): Promise<number> {
  if (flags.save && isInto(flags))
    throw problem('E602', {
      what: '--save and --into exclude each other',
      hint: '--save keeps the answers to the guesses about the sheet of a new batch',
    });
  refuseBothSheets('plan', flags, sheet);
  return planSheet(this, flags, sheet ?? '-');
}

async function planSheet(context: Context, flags: Flags, sheet: string): Promise<number> {
  const printer = printerFor(context, flags);
  const config = configOf(flags);
  await checkFlags(sheet, flags);
  if (isInto(flags)) return planInto({ context, flags, sheet, printer, asks: false });
  await using servers = new ServersNeeded(config, flags.local, printer);
  const around = { ...servers.around, ...fromNotes(printer, flags), isPlan: true };
  const source = await sourceOf(config, context.process, flags, sheet);
  await using proposal = await propose(requestOf(config, flags), source, around);
  const { questions, ofBatch, earlier } = proposal;
  const draft = await draftOf(proposal);
  if (ofBatch !== undefined)
    printer.notice(
      `  earlier   these are rows of ${ofBatch.batch}; to plan what it sends again: add --into ${ofBatch.batch}`,
    );
  const requests = await firstRequests(draft);
  const estimate = await estimateOf(config.out, draft);
  const { file, canary } = draft;
  const notGuaranteed =
    file.service.api === 'v1' ? limitsOfV1({ webhooks: webhooksArrive(config, file) }) : [];
  if (flags.output === 'json')
    printer.json(planJson({ batch: draft, estimate, requests, earlier, canary, questions, notGuaranteed }));
  else sayPlan(printer, config, draft, { estimate, requests, earlier, questions });
  if (flags.save && proposal.params) printer.notice(keptLine(await keepPlan(proposal.params, draft)));
  sayNext(printer, flags.output, ['run', sameCommand(context.args ?? [], 'run', { without: ['--save'] })]);
  return EXIT.ok;
}

const keptLine = (columns: readonly string[] | undefined): string =>
  columns === undefined
    ? 'nothing is kept: nothing is guessed about JSON'
    : terminalLine(
        `answers kept for this deployment and sheets with the columns ${list(columns)}; other columns are asked about again`,
      );

type Plan = {
  readonly estimate: Estimate;
  readonly requests: readonly object[];
  readonly earlier: EarlierBatches;
  readonly questions: readonly Question[];
};

function sayPlan(printer: Printer, config: Config, draft: DraftBatch, planned: Plan): void {
  const { estimate, requests, earlier, questions } = planned;
  printBatch(printer, config, draft);
  for (const line of earlierLines(earlier, draft.file)) printer.notice(line);
  for (const one of questions)
    if (one.id === 'elsewhere') printer.notice(terminalLine(`  elsewhere ${questionText(one)}`));
  for (const line of forecastLines(estimate)) printer.notice(line);
  for (const line of canaryPlanLines(draft.canary)) printer.notice(line);
  if (estimate.source === 'prices') for (const line of examplesOf(draft, estimate)) printer.notice(line);
  printer.notice('  first requests:');
  for (const request of requests) printer.data(terminalJson(JSON.stringify(request, clippedValue)));
  printer.notice('nothing was sent');
}

const VALUE_MOST = 400;

/** -o json has the values in full. */
const clippedValue = (_name: string, value: unknown): unknown =>
  typeof value === 'string' && value.length > VALUE_MOST
    ? `${shortened(value, VALUE_MOST / 2)} (${count(value.length)} characters)`
    : value;

/** Without a known run, the times and costs that follow from two run times. */
function examplesOf({ file }: DraftBatch, { usd_per_run_second: usd }: Estimate): readonly string[] {
  const { adaptive: concurrency = file.concurrency } = file;
  const rounds = Math.ceil((file.sheet.rows - (file.sheet.reused ?? 0)) / concurrency);
  return [5, 30].map((seconds) => {
    const cost = usd === null ? '' : `, about ${money(usd * seconds)} without cold starts`;
    return `  if a run takes ${seconds} s: ${span(rounds * seconds * 1000)} at ${count(concurrency)} at the same time${cost}`;
  });
}

/** What `plan` says about earlier batches. */
function earlierLines(
  { same, done = [], open = [], unknown = [] }: EarlierBatches,
  { sheet: { rows, reused } }: DraftBatch['file'],
): readonly string[] {
  if (same !== undefined)
    return [`  earlier   this is batch ${same}; run attaches to it and buys no row again`];
  const left = rows - sumOf(done);
  const isSure = done.every((one) => one.isVersionSure) ? '' : '; the deployment may have changed since';
  const flags =
    reused === undefined ? `: --reuse runs ${plural(left, 'row')}, --again all ${count(rows)}` : '';
  return [
    ...(done.length === 0 ? [] : [`  earlier   ${doneText({ rows, done })}${isSure}${flags}`]),
    ...(unknown.length === 0 ? [] : [`  earlier   ${knownText({ rows, done: [], unknown })}`]),
    ...(open.length === 0
      ? []
      : [`  earlier   ${openText(open)}; run refuses this sheet until they have ended`]),
  ];
}
