// retry: sends rows of a batch again, whether it runs or has ended. The batch stays one: a row keeps one line, and its attempts add
// up.

import type { FlagsOf } from '../flags/flags.ts';
import type { retryFlags } from './batch-flags.ts';
import {
  addPass,
  candidates,
  retryQuestions,
  type Candidates,
  type PassParams,
} from '../../create-batch/append/add-pass.ts';
import type { Answers } from '../../create-batch/questions.ts';
import { EXIT } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import type { InputChange } from '../../sheet/input-change.ts';
import { inputChangeOf, passParams, type RetryFilter } from '../../library/handle/retried-rows.ts';
import { STARTED_FILE } from '../../store/batch-file.ts';
import { answersBy } from '../run/questions.ts';
import { printBatchJson } from './print-batch.ts';
import { configOf, inputsSet } from '../flags/batch-options.ts';
import { findBatch, refOf, type FoundBatch } from '../../library/handle/found-batch.ts';
import { printerFor, type Context, type Printer } from '../context.ts';
import { toContinue, nextCommand, sayLeft, sayNext } from '../next-command.ts';
import { commandOptions } from './control.ts';
import { readLatestSummary } from '../../results/summary.ts';
import { retryOf } from '../follow/batch-end.ts';
import { follow } from '../follow/follow.ts';
import { money, plural } from '../format.ts';
import { withSession, type Session } from '../session.ts';
import { startOrAttach } from '../../library/start/start-or-attach.ts';
import { signalPass } from '../../library/start/signal-pass.ts';
import { refuseUnknownRows } from '../../library/handle/unknown-rows.ts';

type Flags = FlagsOf<typeof retryFlags>;

export default async function retry(this: Context, flags: Flags, name: string): Promise<number> {
  const printer = printerFor(this);
  const found = await findBatch(configOf(flags).out, name);
  if (!(await found.store.exists(STARTED_FILE))) {
    printer.notice(`${found.batch} was never started`);
    sayNext(printer, flags.output, toContinue(found));
    await printBatchJson(printer, flags, found);
    return EXIT.ok;
  }
  await refuseUnknownRows(found, filterOf(flags));
  const given: Given = { context: this, flags, found, printer };
  // Only the service knows the types of the inputs, and the local one runs in the session.
  if (flags.set !== undefined)
    return withSession(flags, found, printer, async (session) => {
      const asked = await chosen(given, await inputChangeOf(configOf(flags), found, inputsSet(flags.set)));
      return asked === undefined ? EXIT.ok : sendAgain(session, given, asked);
    });
  const asked = await chosen(given, undefined);
  if (asked === undefined) return EXIT.ok;
  return withSession(flags, found, printer, (session) => sendAgain(session, given, asked));
}

type Given = {
  readonly context: Context;
  readonly flags: Flags;
  readonly found: FoundBatch;
  readonly printer: Printer;
};

type Asked = { readonly params: PassParams; readonly wanted: Candidates };

/** undefined if there is nothing to send. */
async function chosen(given: Given, change: InputChange | undefined): Promise<Asked | undefined> {
  const { flags, found, printer } = given;
  const answers: Answers = {
    ...(flags.yes ? { boughtBefore: 'again' } : {}),
    ...(flags.acceptGpu ? { otherGpu: 'accept' } : {}),
  };
  const params = passParams(filterOf(flags), answers, change);
  const wanted = await candidates(found, params);
  const agreed = await confirmed(given, params, wanted);
  if (agreed !== undefined) return { params: agreed, wanted };
  await printBatchJson(printer, flags, found);
  return undefined;
}

async function sendAgain(
  session: Session,
  { context, flags, found, printer }: Given,
  { params, wanted }: Asked,
): Promise<number> {
  const pass = await addPass(found, params, wanted);
  if (pass === undefined) await startOrAttach(session, found);
  else {
    await signalPass(session, found, pass.pass, commandOptions(flags));
    printer.notice(sentText(flags, pass));
  }
  if (flags.detach) {
    await printBatchJson(printer, flags, found, (await session.batches.status(refOf(found))).progress);
    sayLeft(printer, flags.output, session, found);
    return EXIT.ok;
  }
  return follow({ session, found, printer, process: context.process, output: flags.output });
}

const filterOf = ({ outcome, row, key, failure, gpu, reason, buyAgain }: Flags): RetryFilter => ({
  buyAgain,
  ...(outcome === undefined ? {} : { outcome }),
  ...(row === undefined ? {} : { rows: row }),
  ...(key === undefined ? {} : { keys: key }),
  ...(failure === undefined ? {} : { failure }),
  ...(gpu === undefined ? {} : { gpu }),
  ...(reason === undefined ? {} : { reason }),
});

/** Says what would be sent, and adds what the user answers; undefined if nothing is to be sent. Throws E314 and E602 in a script. */
async function confirmed(
  { context: { process }, flags, found, printer }: Given,
  params: PassParams,
  wanted: Candidates,
): Promise<PassParams | undefined> {
  const { rows, open } = wanted;
  if (rows === 0 && open === 0) {
    printer.notice(`no row of ${found.batch} matches; nothing is sent again`);
    const summary = flags.outcome === undefined ? await readLatestSummary(found.store) : undefined;
    const again = summary && retryOf(summary);
    if (again) sayNext(printer, flags.output, ['again', nextCommand('retry', found, { more: again })]);
    sayNext(printer, flags.output, ['rows', nextCommand('rows', found)]);
    return undefined;
  }
  if (open > 0)
    printer.notice(`${plural(open, 'row')} ${open === 1 ? 'is' : 'are'} being sent again already`);
  const questions = rows === 0 ? [] : retryQuestions(found, params, wanted);
  if (questions.length === 0) return params;
  const patches = await answersBy({ printer, process, asks: true }, questions);
  const given = patches.map((patch) => ('answers' in patch ? patch.answers : {}));
  return { ...params, answers: Object.assign({}, params.answers, ...given) as Answers };
}

/** What is sent again, in words. */
function sentText({ gpu, set }: Flags, { rows, fetched, byGpu, expectedUsd }: Candidates): string {
  const files = `the files of ${plural(fetched, 'row')} are fetched again; nothing is bought for them`;
  if (fetched === rows) return files;
  const cost = expectedUsd === undefined ? '' : `, about ${money(expectedUsd)}`;
  const on = gpu === undefined ? '' : ` on ${[...byGpu.keys()].join(', ')}`;
  const having = set === undefined ? '' : terminalLine(` with ${set.join(', ')}`);
  const sent = `${plural(rows - fetched, 'row')} sent again${on}${having}${cost}`;
  return fetched === 0 ? sent : `${sent}; ${files}`;
}
