// run, submit and plan with --into: adds rows to a batch, which keeps its mapping, deployment and service.

import { answersFrom } from '../../library/start/program-rows.ts';
import type { Question } from '../../batches/questions.ts';
import { problem } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import {
  appendFurther,
  planFurther,
  shownFurther,
  type FurtherAsked,
  type FurtherPlan,
} from '../../library/handle/appended-sheet.ts';
import { findBatch } from '../../library/handle/find-batch.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import type { Servers } from '../../library/servers.ts';
import { inWords } from '../../library/start/batch-plan.ts';
import { signalPass, summaryOfDone } from '../../library/start/start-or-attach.ts';
import { copyingOf, limitsOf, mappingOf, orderOf, readingOf } from '../flags/batch-options.ts';
import type { Printer } from '../context.ts';
import type { SheetFlags } from '../flags/flags.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import { planJson } from '../json/plan-json.ts';
import { sameCommand } from '../next-command.ts';
import { forecastLines } from './forecast.ts';
import { giveLimits, sayIgnored, type Sending, type SentSheet } from './run-new-batch.ts';
import { guessLines, policyOf } from './answer-policy.ts';
import { unreadLines } from './refused-lines.ts';

export type IntoFlags = SheetFlags & { readonly into: string };

type IntoRequest = Pick<Sending, 'context' | 'sheet' | 'printer' | 'servers'> & { readonly flags: IntoFlags };

export const isInto = <T extends SheetFlags>(flags: T): flags is T & IntoFlags => flags.into !== undefined;

/** Refuses a deployment or mapping that differs from the batch's. Throws E602. */
export function refuseOtherMapping(
  { batch, file }: Pick<FoundBatch, 'batch' | 'file'>,
  flags: SheetFlags,
): void {
  const { id, name } = file.deployment;
  const { deployment: wanted } = flags;
  if (wanted !== undefined && wanted !== name && wanted.toLowerCase() !== id)
    throw problem('E602', {
      what: `-d ${wanted}: ${batch} is a batch of the deployment ${name ?? id}`,
      hint: 'leave -d out: a batch keeps its deployment',
    });
  const has: Readonly<Record<string, unknown>> = file.sheet.options;
  const difference = mappingOf(flags).find(({ kept, value }) => !isWithin(value, has[kept]));
  if (difference !== undefined)
    throw problem('E602', {
      what: `${difference.flag} is not as in ${batch}`,
      hint: 'leave it out: a batch keeps its mapping, and rows are added in the same way',
    });
}

/** Whether the batch has everything in `value`. */
function isWithin(value: unknown, has: unknown): boolean {
  if (value === undefined) return true;
  if (Array.isArray(value)) return value.every((element) => Array.isArray(has) && has.includes(element));
  if (typeof value !== 'object' || value === null) return value === has;
  return Object.entries(value).every(([name, member]) =>
    isWithin(member, (has as Record<string, unknown>)[name]),
  );
}

async function batchFor(servers: Servers, flags: IntoFlags): Promise<FoundBatch> {
  const batchFolder = await findBatch(servers.config, flags.into);
  refuseOtherMapping(batchFolder, flags);
  await servers.check(limitsOf(flags));
  return batchFolder;
}

const askedOf = ({ context: { process, job }, flags, sheet }: IntoRequest): FurtherAsked => ({
  path: sheet,
  copying: { stdin: process.stdin, job, ...copyingOf(flags) },
  reading: readingOf(flags),
  order: orderOf(flags),
  answers: answersFrom({ ...flags, mayBuyTwice: flags.yes }),
});

/** Adds the rows. Repeating the command adds nothing. */
export async function sendInto(sending: Omit<Sending, 'flags'> & IntoRequest): Promise<SentSheet> {
  const { context, flags, printer, servers, asks } = sending;
  const batchFolder = await batchFor(servers, flags);
  let isUnread = false;
  const added = await appendFurther(servers, batchFolder, askedOf(sending), {
    ...policyOf({ printer, process: context.process, asks }),
    show: async (rows) => {
      const plan = await shownFurther(servers, rows);
      isUnread = plan?.refused !== undefined;
      say(printer, batchFolder, rows.questions, plan);
    },
  });
  const summary = added === undefined ? await summaryOfDone(batchFolder) : undefined;
  if (summary && Object.keys(limitsOf(flags)).length === 0)
    return { kind: 'ended', batch: batchFolder, summary, isUnread };
  const session = await servers.for(batchFolder);
  await signalPass(session, batchFolder, added?.pass);
  sayIgnored(printer, flags, batchFolder);
  await giveLimits(sending, session, batchFolder);
  return { kind: 'running', batch: batchFolder, session, isUnread };
}

export async function planInto(request: IntoRequest & { readonly listsErrors: boolean }): Promise<void> {
  const { context, flags, printer, servers, listsErrors } = request;
  const batchFolder = await batchFor(servers, flags);
  const plan = await planFurther(servers, batchFolder, { ...askedOf(request), listsErrors });
  const questions = inWords(plan.questions);
  if (flags.output === 'json')
    printer.json(planJson({ ...plan, batch: { ...batchFolder, laidOut: plan }, into: plan, questions }));
  else say(printer, batchFolder, plan.questions, plan);
  for (const { text } of questions) printer.notice(terminalLine(`            ${text}`));
  printer.notice('nothing was sent');
  const args = (context.args ?? []).filter((word) => word !== '--errors');
  printer.next(['run', sameCommand(args, 'run')]);
}

function say(
  printer: Printer,
  { batch }: FoundBatch,
  questions: readonly Question[],
  plan: FurtherPlan | undefined,
): void {
  for (const question of questions)
    if (question.id === 'guesses') for (const line of guessLines(question.guesses)) printer.notice(line);
  if (plan === undefined) return;
  const { rows, appended, changed, same, sameFailed, refused, isKeyed, estimate } = plan;
  printer.notice(
    `${printer.paint('green', '✓')} ${plural(rows, 'row')}: ${appended} new, ${changed} sent again with other inputs, ${same} left out, because ${terminalLine(batch)} has them`,
  );
  for (const line of unreadLines(refused)) printer.notice(printer.paint('yellow', line));
  if (!isKeyed)
    printer.notice(
      '  keys      none: a row is the same if its inputs and GPU are; repeated rows are counted',
    );
  if (sameFailed > 0)
    printer.notice(
      `  failed    ${plural(sameFailed, 'row')} of those left out did not succeed; to send them again as they are: runsheet retry ${batch} --outcome failed,timed-out,cancelled,refused`,
    );
  if (appended + changed > 0) for (const line of forecastLines(estimate)) printer.notice(line);
}
