// plan: checks the sheet and shows rows, cost and first requests, without sending anything.

import type { Config } from '../../host/config.ts';
import { EXIT, list, problem } from '../../errors/error.ts';
import { withCopy, type SheetCopy } from '../../create-batch/copy-sheet.ts';
import { readyParams } from '../../create-batch/from/from-sheet.ts';
import {
  planBatch,
  type CreateParams,
  type DraftBatch,
  type EarlierBatches,
} from '../../create-batch/create-batch.ts';
import { shortened, terminalJson, terminalLine } from '../../errors/outside-text.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import type { SheetFlags } from '../flags/flags.ts';
import { refuseBothSheets, withFrom } from './from.ts';
import { isInto, planInto } from './into.ts';
import { keepPlan } from '../../create-batch/answers/plan-answers.ts';
import { createParams } from '../../create-batch/batch-request.ts';
import {
  checkFlags,
  configOf,
  copyParams,
  madeBefore,
  requestOf,
  resultsOf,
} from '../flags/batch-options.ts';
import { canaryPlanLines } from './canary.ts';
import { limitsOfV1, printBatch, webhooksArrive } from './batch-plan.ts';
import { estimateOf, type Estimate } from '../../library/start/estimate.ts';
import { firstRequests } from '../../library/start/batch-plan.ts';
import { forecastLines } from './forecast.ts';
import { sameCommand, sayNext } from '../next-command.ts';
import { earlierLines } from './reuse-choice.ts';
import type { Session } from '../session.ts';
import { count, money, span } from '../format.ts';
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
  if (isInto(flags)) return planInto({ context, flags, sheet, printer });
  const session = flags.local ? await localSession(config, printer) : undefined;
  const planning = { config, printer, flags, args: context.args ?? [] };
  try {
    if (flags.from !== undefined)
      return await withFrom(planning, async (from) => {
        const made = await madeBefore(config, from.copy, flags, from.from.request);
        const params = await paramsOf(planning, from.copy);
        return show(planning, await readyParams(config, from, params, { uploads: false }), made?.batch);
      });
    return await withCopy(sheet, copyParams(config, context.process, flags), async (copy) => {
      const results = await resultsOf(config, copy, flags);
      if (results)
        printer.notice(
          `  earlier   these are rows of ${results.batch}; to plan what it sends again: add --into ${results.batch}`,
        );
      return show(planning, await paramsOf(planning, copy));
    });
  } finally {
    await session?.close();
  }
}

type Planning = {
  readonly config: Config;
  readonly printer: Printer;
  readonly flags: Flags;
  /** The words of the command. */
  readonly args: readonly string[];
};

/** A plan buys nothing, so its guesses need no confirmation. */
const paramsOf = async ({ config, flags }: Planning, copy: SheetCopy): Promise<CreateParams> => ({
  ...(await createParams(config, copy, requestOf(config, flags))),
  agree: async () => {},
});

/** `made`: the batch that was made of the same rows, if it is not found by its rows. */
async function show(
  { config, printer, flags, args }: Planning,
  params: CreateParams,
  made?: string,
): Promise<number> {
  const { draft, ...planned } = await planBatch(params, flags.reuse);
  const earlier = made === undefined ? planned : { same: made };
  const requests = await firstRequests(draft);
  const estimate = await estimateOf(config.out, draft);
  const { file } = draft;
  if (flags.output === 'json')
    printer.json(
      planJson({
        batch: draft,
        estimate,
        requests,
        earlier,
        canary: draft.canary,
        notGuaranteed:
          file.service.api === 'v1' ? limitsOfV1({ webhooks: webhooksArrive(config, file) }) : [],
      }),
    );
  else sayPlan(printer, config, draft, { estimate, requests, earlier });
  if (flags.save) printer.notice(keptLine(await keepPlan(params, draft)));
  sayNext(printer, flags.output, ['run', sameCommand(args, 'run', { without: ['--save'] })]);
  return EXIT.ok;
}

const keptLine = (columns: readonly string[] | undefined): string =>
  columns === undefined
    ? 'nothing is kept: nothing is guessed about JSON'
    : terminalLine(
        `answers kept for this deployment and sheets with the columns ${list(columns)}; other columns are asked about again`,
      );

/** Loaded only here: the Temporal client is half of what a command loads. */
const localSession = async (config: Config, printer: Printer): Promise<Session> =>
  (await import('../session.ts')).openSession({ config, local: true, printer });

type Plan = {
  readonly estimate: Estimate;
  readonly requests: readonly object[];
  readonly earlier: EarlierBatches;
};

function sayPlan(printer: Printer, config: Config, draft: DraftBatch, planned: Plan): void {
  const { estimate, requests, earlier } = planned;
  printBatch(printer, config, draft);
  for (const line of earlierLines(earlier, draft.file)) printer.notice(line);
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
