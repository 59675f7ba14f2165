// retry: sends rows of a batch again, whether it runs or has ended. The batch stays one: a row keeps one line, and its attempts add
// up.

import { findDeployment } from '../create-batch/find-deployment.ts';
import { addPass, candidates, type Candidates, type PassParams } from '../create-batch/add-pass.ts';
import type { FailureKind } from '../batch/failure-kind.ts';
import type { Gpu } from '../batch/gpu.ts';
import type { Outcome } from '../batch/outcome.ts';
import { EXIT, problem } from '../errors/error.ts';
import { terminalLine } from '../errors/outside-text.ts';
import { openServices } from '../run-service/open-services.ts';
import { openTransport } from '../run-service/transport.ts';
import { changeFrom, type InputChange } from '../sheet/input-change.ts';
import type { Kind } from '../sheet/parse-cell.ts';
import type { RowRecord } from '../results/row-record.ts';
import { STARTED_FILE } from '../store/batch-file.ts';
import { ask } from './ask.ts';
import { configOf, pairs } from './batch-options.ts';
import { findBatch, type FoundBatch } from './batch-name.ts';
import { printerFor, type Context, type Printer } from './context.ts';
import { commandOptions } from './control.ts';
import { follow } from './follow.ts';
import { money, plural } from './format.ts';
import { userHere } from '../temporal/user-here.ts';
import { withSession, type Session } from './session.ts';
import { startOrAttach } from './start-or-attach.ts';
import { signalPass } from './signal-pass.ts';
import { refuseUnknownRows } from './unknown-rows.ts';

type Flags = {
  readonly outcome?: readonly Outcome[];
  readonly row?: readonly RowRange[];
  readonly key?: readonly string[];
  readonly failure?: readonly FailureKind[];
  readonly gpu?: Gpu;
  readonly set?: readonly string[];
  readonly yes: boolean;
  readonly detach: boolean;
  readonly reason?: string;
  readonly timeout?: number;
  readonly out?: string;
  readonly output: 'text' | 'json';
};

export type RowRange = { readonly from: number; readonly to: number };

const USUAL: readonly Outcome[] = ['failed', 'timed-out'];

/** Rows with these outcomes may have a run that was paid for. */
const COSTLY: readonly Outcome[] = ['succeeded', 'unknown'];

export default async function retry(this: Context, flags: Flags, name: string): Promise<number> {
  const printer = printerFor(this);
  const found = await findBatch(configOf(flags).out, name);
  if (!(await found.store.exists(STARTED_FILE))) {
    printer.notice(`${found.batch} was never started; to start it: runsheet resume ${found.batch}`);
    return EXIT.ok;
  }
  await refuseUnknownRows(found, flags);
  const given: Given = { context: this, flags, found, printer };
  // Only the service knows the types of the inputs, and the local one runs in the session.
  if (flags.set !== undefined)
    return withSession(flags, found, printer, async (session) => {
      const asked = await chosen(given, await changeOf(found, flags));
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
async function chosen(
  { context, flags, found, printer }: Given,
  change: InputChange | undefined,
): Promise<Asked | undefined> {
  const params = { ...passParams(flags), ...(change === undefined ? {} : { change }) };
  const wanted = await candidates(found, params);
  return (await confirmed(context, flags, found, wanted, printer)) ? { params, wanted } : undefined;
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
  if (flags.output === 'json' && flags.detach) printer.json({ batch: found.batch, rows: pass?.rows ?? 0 });
  if (flags.detach) return leave(session, found, printer);
  return follow({ session, found, printer, process: context.process, output: flags.output });
}

/** The inputs of --set, with the types of the deployment. Throws E602. */
async function changeOf({ file }: FoundBatch, flags: Flags): Promise<InputChange> {
  const service = openServices(configOf(flags), openTransport(1)).at(file.service);
  const { inputTypes } = await findDeployment(service, file.deployment.id);
  const kinds = Object.fromEntries(file.sheet.inputs.map(({ input, kind }) => [input, kind as Kind]));
  const declared = file.sheet.options.types;
  return changeFrom(pairs('--set', flags.set), inputTypes ? declared : { ...kinds, ...declared }, inputTypes);
}

function passParams({ outcome = USUAL, row, key, failure, gpu, reason }: Flags): PassParams {
  const isWanted = (record: RowRecord): boolean =>
    outcome.includes(record.outcome) &&
    (row === undefined || row.some(({ from, to }) => record.row >= from && record.row <= to)) &&
    (key === undefined || key.includes(record.key)) &&
    (failure === undefined || failure.includes(failureOf(record)));
  return {
    isWanted,
    by: userHere(),
    ...(gpu === undefined ? {} : { gpu }),
    ...(reason === undefined ? {} : { reason }),
  };
}

const failureOf = ({ outcome, attempts }: RowRecord): FailureKind =>
  outcome === 'timed-out' ? 'timeout' : (attempts.at(-1)?.failure ?? 'unknown');

const YES_OR_NO = { y: true, yes: true, n: false, no: false };

/** Says what would be sent; asks if rows may be bought twice. Throws E602 in a script without --yes. */
async function confirmed(
  context: Context,
  flags: Flags,
  found: FoundBatch,
  { rows, outcomes, open, expectedUsd }: Candidates,
  printer: Printer,
): Promise<boolean> {
  if (rows === 0 && open === 0) {
    printer.notice(`no row of ${found.batch} matches; nothing is sent again`);
    return false;
  }
  if (open > 0)
    printer.notice(`${plural(open, 'row')} ${open === 1 ? 'is' : 'are'} being sent again already`);
  const costly = COSTLY.flatMap((outcome) => outcomes[outcome] ?? 0).reduce((sum, count) => sum + count, 0);
  if (costly === 0 || flags.yes) return true;
  const cost = expectedUsd === undefined ? '' : `, about ${money(expectedUsd)}`;
  const what = `${plural(rows, 'row')}, of which ${costly} succeeded or may have a run that was paid for${cost}`;
  if (printer.isTerminal && context.process.stdin.isTTY)
    return (await ask(context.process, `send again ${what}? [y/n] `, YES_OR_NO)) ?? false;
  throw problem('E602', {
    what: `this may buy runs a second time: ${what}`,
    hint: 'if that is meant, add --yes',
  });
}

/** What is sent again, in words. */
function sentText({ gpu, set }: Flags, { rows, byGpu, expectedUsd }: Candidates): string {
  const cost = expectedUsd === undefined ? '' : `, about ${money(expectedUsd)}`;
  const on = gpu === undefined ? '' : ` on ${[...byGpu.keys()].join(', ')}`;
  const having = set === undefined ? '' : terminalLine(` with ${set.join(', ')}`);
  return `${plural(rows, 'row')} sent again${on}${having}${cost}`;
}

function leave({ stack }: Session, { batch }: FoundBatch, printer: Printer): number {
  if (stack)
    printer.notice(
      `the embedded servers end with this command; to continue the batch: runsheet resume ${batch}`,
    );
  return EXIT.ok;
}
