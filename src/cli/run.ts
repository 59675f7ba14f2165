// run: validate, submit, follow until done. submit: the same without following.

import { startOrAttach, summaryOfDone } from './start-or-attach.ts';
import { closing, follow } from './follow.ts';
import type { SheetFlags } from './flags.ts';
import { withCopy, type SheetCopy } from '../create-batch/copy-sheet.ts';
import { createBatch } from '../create-batch/create-batch.ts';
import { differences } from '../create-batch/reuse.ts';
import type { Config } from '../host/config.ts';
import { checkWords, configOf, createParams, madeBefore, settingsOf } from './batch-options.ts';
import { openSession, type Session, type SessionOrder } from './session.ts';
import { voiceOf, type Context, type Voice } from './context.ts';
import type { FoundBatch } from './batch-name.ts';
import { EXIT } from '../errors/error.ts';
import { notSucceeded } from '../results/summary.ts';
import { sayBatch } from './batch-plan.ts';

export async function run(this: Context, flags: SheetFlags, sheet: string): Promise<number> {
  return send(this, flags, sheet, (session, found, voice) =>
    follow({ session, found, voice, process: this.process, output: flags.output }),
  );
}

export async function submit(this: Context, flags: SheetFlags, sheet: string): Promise<number> {
  return send(this, flags, sheet, async (session, found, voice) => {
    if (session.stack)
      voice.say('the embedded servers end with this command: follow the batch with runsheet watch');
    if (flags.output === 'json') voice.json({ batch: found.batch, folder: found.folder });
    else voice.data(found.batch);
    return EXIT.ok;
  });
}

type Next = (session: Session, found: FoundBatch, voice: Voice) => Promise<number>;

async function send(context: Context, flags: SheetFlags, sheet: string, next: Next): Promise<number> {
  const voice = voiceOf(context, flags);
  const config = configOf(flags);
  await checkWords(sheet, flags);
  const { stdin } = context.process;
  return withCopy(
    sheet,
    { out: config.out, stdin, ...(flags.format && { format: flags.format }) },
    async (copy) => {
      const found = await madeBefore(config, copy, flags);
      const summary = found && (await summaryOfDone(found));
      return summary ? sayDone(voice, flags, found, summary) : sendCopy({ config, voice, flags, copy }, next);
    },
  );
}

type Sending = {
  readonly config: Config;
  readonly voice: Voice;
  readonly flags: SheetFlags;
  readonly copy: SheetCopy;
};

/** The local run service must be there to be asked; a remote one is asked before anything is started. */
async function sendCopy({ config, voice, flags, copy }: Sending, next: Next): Promise<number> {
  const order = { config, local: flags.local, voice };
  const sessions: Session[] = [];
  try {
    if (flags.local) await opened(sessions, order);
    const found = await createBatch(await createParams(config, copy, flags));
    const summary = await summaryOfDone(found);
    if (summary) return sayDone(voice, flags, found, summary);
    sayBatch(voice, config, found);
    const [session = await opened(sessions, order)] = sessions;
    const how = await startOrAttach(session, found);
    // Also a batch that was made and never started keeps its own settings.
    if (how === 'attached' || found.laidOut === undefined) sayAttached(voice, flags, found);
    return await next(session, found, voice);
  } finally {
    await Promise.all(sessions.map((session) => session.close()));
  }
}

async function opened(sessions: Session[], order: SessionOrder): Promise<Session> {
  const session = await openSession(order);
  sessions.push(session);
  return session;
}

function sayAttached(voice: Voice, flags: SheetFlags, found: FoundBatch): void {
  voice.say(`This sheet is already batch ${found.batch}. Attached.`);
  sayDifferences(voice, flags, found);
}

/** A batch keeps the settings that it was made with. */
function sayDifferences(voice: Voice, flags: SheetFlags, found: FoundBatch): void {
  const ignored = differences(found, settingsOf(flags));
  if (ignored.length > 0)
    voice.say(voice.paint('yellow', `The batch keeps its own settings; ignored: ${ignored.join(', ')}`));
}

type Summary = NonNullable<Awaited<ReturnType<typeof summaryOfDone>>>;

function sayDone(voice: Voice, flags: SheetFlags, found: FoundBatch, summary: Summary): number {
  const { batch, folder } = found;
  voice.say(`This sheet is batch ${batch}, and it is done. A new batch of the same sheet: --again`);
  sayDifferences(voice, flags, found);
  voice.raw(closing(summary, folder, voice.paint));
  if (flags.output === 'json') voice.json({ ...summary, folder });
  else voice.data(folder);
  return notSucceeded(summary) === 0 ? EXIT.ok : EXIT.someRowsFailed;
}
