// run, submit and plan with --into: adds the rows of a further sheet to a batch, which keeps its mapping, deployment and service.

import {
  appendRows,
  compareFurther,
  furtherQuestions,
  type FurtherSheet,
} from '../../create-batch/append/append-rows.ts';
import { checkSettings } from '../../create-batch/check-settings.ts';
import { questionText, type Answers } from '../../create-batch/questions.ts';
import type { Comparison } from '../../create-batch/append/compare-rows.ts';
import { withCopy, type SheetCopy } from '../../create-batch/copy-sheet.ts';
import { EXIT, problem } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import type { Summary } from '../../results/summary.ts';
import { LOCAL } from '../../run-service/local-address.ts';
import { STARTED_FILE } from '../../store/batch-file.ts';
import { userHere } from '../../temporal/user-here.ts';
import { checkFurther, estimateFurther } from '../../library/handle/appended-sheet.ts';
import { findBatch, type FoundBatch } from '../../library/handle/found-batch.ts';
import {
  configOf,
  copyParams,
  isClusterMeant,
  limitsOf,
  orderOf,
  readingOf,
  sheetOptions,
} from '../flags/batch-options.ts';
import type { Context, Printer } from '../context.ts';
import type { Estimate } from '../../library/start/estimate.ts';
import { forecastLines } from './forecast.ts';
import { answersBy, commandSaying } from './questions.ts';
import { sameCommand, sayNext } from '../next-command.ts';
import type { SheetFlags } from '../flags/flags.ts';
import { plural } from '../format.ts';
import { planJson } from '../json/plan.ts';
import type { Session, SessionParams } from '../session.ts';
import { startOrAttach, summaryOfDone } from '../../library/start/start-or-attach.ts';
import { signalPass } from '../../library/start/signal-pass.ts';

export type IntoFlags = SheetFlags & { readonly into: string };
type Given = {
  readonly context: Context;
  readonly flags: IntoFlags;
  readonly sheet: string;
  readonly printer: Printer;
  /** Whether the command asks on a terminal. */
  readonly asks: boolean;
};
type Done = (found: FoundBatch, summary: Summary) => Promise<number>;
type Next = (session: Session, found: FoundBatch, printer: Printer) => Promise<number>;

export const isInto = (flags: SheetFlags): flags is IntoFlags => flags.into !== undefined;

/** Refuses flags that contradict the batch. Throws E602. */
function refuseOthers({ batch, file }: FoundBatch, flags: IntoFlags): void {
  const both = (['again', 'reuse', 'name'] as const).find((flag) => flags[flag]);
  if (both !== undefined)
    throw problem('E602', {
      what: `--into and --${both} exclude each other`,
      hint: '--into adds rows to a batch that exists',
    });
  const own = (['canary', 'reserve'] as const).find((flag) => flags[flag] !== undefined);
  if (own !== undefined)
    throw problem('E602', {
      what: `--into and --${own} exclude each other: ${batch} keeps what it was made with`,
      hint: `leave --${own} out, or make a new batch: add --again instead of --into`,
    });
  const { outputName } = flags;
  if (outputName !== undefined && outputName !== file.sheet.outputName)
    throw problem('E602', {
      what: `--output-name is not as in ${batch}: the names of its files are given`,
      hint: `leave --output-name out, or make a new batch: add --again instead of --into`,
    });
  if (file.sheet.options.ladder !== undefined)
    throw problem('E602', {
      what: `${batch} has a ladder, so rows cannot be added to it`,
      hint: `send its rows again with: runsheet retry ${batch}; for other rows, make a new batch: add --again`,
    });
  refuseOtherMapping({ batch, file }, flags);
}

/** Refuses a deployment and a mapping that are not those of the batch. Throws E602. */
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
  const { map, set, drop, types, gpu, ladder, gpuColumn, keyColumn } = sheetOptions(flags);
  const given = { map, set, drop, types, gpu, ladder, gpuColumn, keyColumn };
  const has: Readonly<Record<string, unknown>> = file.sheet.options;
  const other = Object.entries(given).find(([option, value]) => !isWithin(value, has[option]));
  if (other !== undefined)
    throw problem('E602', {
      what: `${FLAGS[other[0] as keyof typeof FLAGS]} is not as in ${batch}`,
      hint: 'leave it out: a batch keeps its mapping, and rows are added in the same way',
    });
}

const FLAGS = {
  map: '--map',
  set: '--set',
  drop: '--drop',
  types: '--type',
  gpu: '--gpu',
  ladder: '--ladder',
  gpuColumn: '--gpu-column',
  keyColumn: '--key',
} as const;

/** Whether all that is given is what the batch has. */
function isWithin(given: unknown, has: unknown): boolean {
  if (given === undefined) return true;
  if (Array.isArray(given)) return given.every((one) => Array.isArray(has) && has.includes(one));
  if (typeof given !== 'object' || given === null) return given === has;
  return Object.entries(given).every(([name, value]) => (has as Record<string, unknown>)[name] === value);
}

const furtherSheet = ({ flags, context }: Given, found: FoundBatch, copy: SheetCopy): Promise<FurtherSheet> =>
  checkFurther(configOf(flags), found, copy, {
    reading: readingOf(flags),
    order: orderOf(flags),
    commandWith: (guesses) => commandSaying(context.process.argv, guesses),
  });

const answersOf = ({ acceptGpu }: IntoFlags): Answers => (acceptGpu ? { otherGpu: 'accept' } : {});

/** What the command says, and what its user answers. Throws E314 in a script. */
async function decided(
  { flags, printer, asks, context: { process } }: Given,
  sheet: FurtherSheet,
  compared: Comparison,
): Promise<Answers> {
  const answers = answersOf(flags);
  const patches = await answersBy({ printer, process, asks }, furtherQuestions(sheet, compared, answers));
  const given = patches.map((patch) => ('answers' in patch ? patch.answers : {}));
  return Object.assign({}, answers, ...given) as Answers;
}

async function begin(
  { flags, sheet, context }: Given,
  use: (copy: SheetCopy, found: FoundBatch) => Promise<void>,
) {
  const config = configOf(flags);
  const found = await findBatch(config.out, flags.into);
  refuseOthers(found, flags);
  await checkSettings(limitsOf(flags), { config, isCluster: () => isClusterMeant(config) });
  if (!(await found.store.exists(STARTED_FILE)))
    throw problem('E602', {
      what: `${found.batch} was never started`,
      hint: `start it, then repeat the command: runsheet resume ${found.batch}`,
    });
  await withCopy(sheet, copyParams(config, context.process, flags), (copy) => use(copy, found));
  return found;
}

async function opened(sessions: Session[], params: SessionParams): Promise<Session> {
  const { openSession } = await import('../session.ts');
  const session = await openSession(params);
  sessions.push(session);
  return session;
}

/** Adds the rows and follows the batch. Repeating the command adds nothing. */
export async function sendInto(given: Given, next: Next, done: Done): Promise<number> {
  const { flags, printer } = given;
  const config = configOf(flags);
  const sessions: Session[] = [];
  let pass: number | undefined;
  try {
    const local = (found: FoundBatch) => found.file.service.base === LOCAL;
    const found = await begin(given, async (copy, one) => {
      if (local(one)) await opened(sessions, { config, local: true, printer });
      const sheet = await furtherSheet(given, one, copy);
      using compared = await compareFurther(sheet);
      say(printer, sheet, compared, await estimateFurther(configOf(flags), sheet, compared));
      const answers = await decided(given, sheet, compared);
      pass = (await appendRows(sheet, compared, userHere(), answers))?.pass;
    });
    const summary = pass === undefined ? await summaryOfDone(found) : undefined;
    if (summary && Object.keys(limitsOf(flags)).length === 0) return await done(found, summary);
    const [session = await opened(sessions, { config, local: local(found), printer })] = sessions;
    if (pass === undefined) await startOrAttach(session, found);
    else await signalPass(session, found, pass, {});
    return await next(session, found, printer);
  } finally {
    await Promise.all(sessions.map((session) => session.close()));
  }
}

/** Shows what would be added. */
export async function planInto(given: Given): Promise<number> {
  const { flags, printer } = given;
  const config = configOf(flags);
  const sessions: Session[] = [];
  try {
    await begin(given, async (copy, found) => {
      if (found.file.service.base === LOCAL) await opened(sessions, { config, local: true, printer });
      const sheet = await furtherSheet(given, found, copy);
      using compared = await compareFurther(sheet);
      const expected = await estimateFurther(configOf(flags), sheet, compared);
      const { laidOut } = sheet;
      if (flags.output === 'json')
        printer.json(
          planJson({
            batch: { ...found, laidOut: { gpus: compared.gpus, unused: laidOut.unused } },
            rows: laidOut.rows,
            estimate: expected,
            into: compared,
            questions: furtherQuestions(sheet, compared, {}),
          }),
        );
      else say(printer, sheet, compared, expected);
      for (const one of furtherQuestions(sheet, compared, {}))
        printer.notice(terminalLine(`            ${questionText(one)}`));
      printer.notice('nothing was sent');
      sayNext(printer, flags.output, ['run', sameCommand(given.context.args ?? [], 'run')]);
    });
    return EXIT.ok;
  } finally {
    await Promise.all(sessions.map((session) => session.close()));
  }
}

function say(
  printer: Printer,
  { batch: { batch }, laidOut, options }: FurtherSheet,
  { appended, changed, same, sameFailed }: Comparison,
  expected: Estimate,
): void {
  printer.notice(
    `${printer.paint('green', '✓')} ${plural(laidOut.rows, 'row')}: ${appended} new, ${changed} sent again with other inputs, ${same} left out, because ${terminalLine(batch)} has them`,
  );
  if (options.keyColumn === undefined)
    printer.notice(
      '  keys      none: a row is the same if its inputs and GPU are; repeated rows are counted',
    );
  if (sameFailed > 0)
    printer.notice(
      `  failed    ${plural(sameFailed, 'row')} of those left out did not succeed; to send them again as they are: runsheet retry ${batch} --outcome failed,timed-out,cancelled,refused`,
    );
  if (appended + changed === 0) return;
  for (const line of forecastLines(expected)) printer.notice(line);
}
