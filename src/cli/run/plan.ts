// plan: checks the sheet and shows rows, cost and the first requests. Sends nothing.

import type { Config } from '../../host/settings/config.ts';
import { problem } from '../../errors/error.ts';
import { shellWord, shortened, terminalJson, terminalLine } from '../../errors/outside-text.ts';
import { LETTERS } from '../command.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import type { SheetFlags } from '../flags/flags.ts';
import { fromNotes, isPipeline, refuseBothSheets, sheetOr, sourceOf } from './from.ts';
import { trustWritten } from '../job/job-reach.ts';
import { withJob } from '../job/job-words.ts';
import { refuseJobFile, writeJob } from '../job/write-job.ts';
import { isInto, planInto } from './into.ts';
import { checkFlags, configOf, requestOf } from '../flags/batch-options.ts';
import { withOwnGpus } from '../flags/gpu-flags.ts';
import { canaryPlanLines, forecastLines } from './forecast.ts';
import { limitsOfV1, printBatch } from './plan-text.ts';
import { factsOf, planBatch, type Planned } from '../../library/start/batch-plan.ts';
import { choosesRows, printedAnswers } from '../../sheet/guesses/guess.ts';
import { commandWith } from './answer-policy.ts';
import { serversFor } from '../command-session.ts';
import { count, plural } from '../../options/text/printed-numbers.ts';
import { planJson } from '../json/plan-json.ts';

type PlanFlags = SheetFlags & { readonly write?: string; readonly errors: boolean };

export default async function plan(this: Context, flags: PlanFlags, sheet?: string): Promise<void> {
  if (isPipeline(sheet))
    return (await import('../pipeline/run-pipeline.ts')).planPipeline(this, flags, sheet);
  if (flags.write !== undefined) {
    if (isInto(flags))
      throw problem('E602', { what: '--write and --into exclude each other: a job makes a new batch' });
    refuseJobFile(flags.write);
  }
  refuseBothSheets('plan', flags, sheet);
  return planSheet(this, flags, sheetOr(sheet, flags));
}

async function planSheet(context: Context, commandFlags: PlanFlags, sheet: string): Promise<void> {
  const printer = printerFor(context, commandFlags);
  const config = configOf(commandFlags);
  await checkFlags(sheet, commandFlags);
  await using servers = serversFor(config, printer);
  const flags = await withOwnGpus(servers, commandFlags, false);
  // Awaited here, because returning releases the servers.
  if (isInto(flags))
    return await planInto({ context, flags, sheet, printer, servers, listsErrors: flags.errors });
  const rows = await sourceOf(config, context, flags, sheet);
  const request = requestOf(config, flags);
  await using planned = await planBatch(servers, request, rows, {
    ...fromNotes(printer),
    listsErrors: flags.errors,
  });
  const { draft, ofBatch } = planned;
  if (ofBatch !== undefined)
    printer.notice(
      `  earlier   these are rows of ${ofBatch}; to plan what it sends again: add --into ${ofBatch}`,
    );
  const { hasWebhooks } = factsOf(config, draft);
  const notGuaranteed = draft.file.service.api === 'v1' ? limitsOfV1(hasWebhooks) : [];
  if (flags.output === 'json')
    printer.json(planJson({ ...planned, batch: draft, canary: draft.canary, notGuaranteed }));
  else sayPlan(printer, config, planned);
  const args = (context.args ?? []).filter((word) => word !== '--errors');
  const answers = printedAnswers(draft.laidOut.guesses ?? []);
  if (flags.write === undefined && answers.length > 0 && draft.file.sheet.inputs.length === 0)
    return printer.next(['hint', 'no column would be sent: choose another answer to a question above']);
  const choices = (draft.laidOut.guesses ?? []).filter(choosesRows).length;
  if (flags.write === undefined && choices > 0)
    printer.notice(
      `  choose    ${plural(choices, 'question')} above only you can answer: add the flags of one answer`,
    );
  if (flags.write === undefined)
    return printer.next(['run', commandWith(['', '', 'run', ...args.slice(1)], answers)]);
  const words = withJob(args, LETTERS);
  writeJob(flags.write, words, sheet, draft.laidOut.guesses ?? [], LETTERS);
  trustWritten(flags.write);
  // A job file cannot carry --accept-files, so the command repeats it.
  const accepted = flags.acceptFiles ? '--accept-files ' : '';
  printer.next(['run', `runsheet run ${accepted}${shellWord(flags.write)}`]);
}

/** Questions that no other line of the plan covers. */
const SHOWN: ReadonlyMap<string, string> = new Map([
  ['elsewhere', 'elsewhere'],
  ['changed', 'changed'],
  ['manyRows', 'rows'],
  ['outsideFiles', 'outside'],
  ['lowBudget', 'limit'],
  ['moved', 'moved'],
]);

function sayPlan(printer: Printer, config: Config, planned: Planned): void {
  const { draft, estimate, requests, notes, questions } = planned;
  printBatch(printer, config, draft);
  for (const note of notes) printer.notice(`  earlier   ${note}`);
  for (const line of answerLines(questions)) printer.notice(line);
  for (const { id, text } of questions)
    if (SHOWN.has(id)) printer.notice(terminalLine(`  ${(SHOWN.get(id) ?? '').padEnd(9)} ${text}`));
  for (const line of forecastLines(estimate)) printer.notice(line);
  for (const line of canaryPlanLines(draft.canary)) printer.notice(line);
  printer.notice('  first requests:');
  for (const request of requests) printer.data(terminalJson(JSON.stringify(request, clippedValue)));
  printer.notice('nothing was sent');
}

/** `            --reuse: reuse their results and run 1 row` */
const answerLines = (questions: Planned['questions']): readonly string[] =>
  questions.flatMap(({ id, answers }) =>
    id === 'earlier' || id === 'moved'
      ? answers.map(({ flags, text }) => `            ${flags.join(' ')}: ${text}`)
      : [],
  );

const MAX_VALUE = 400;

/** Clips long values; -o json has them in full. */
const clippedValue = (_name: string, value: unknown): unknown =>
  typeof value === 'string' && value.length > MAX_VALUE
    ? `${shortened(value, MAX_VALUE / 2)} (${count(value.length)} characters)`
    : value;
