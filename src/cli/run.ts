// run: validate, submit, follow until done. submit: the same without following.

import { begin, summaryOfDone } from './begin.ts';
import { closing, follow } from './follow.ts';
import type { SheetFlags } from './flags.ts';
import { withCopy, type SheetCopy } from '../intake/copy.ts';
import type { Config } from '../config.ts';
import { checkWords, configOf, madeBefore, takeSheet } from './order.ts';
import { openSession, type Session, type SessionOrder } from './session.ts';
import { voiceOf, type Context, type Voice } from './context.ts';
import type { FoundBatch } from './batch-name.ts';
import { folderStore } from '../store/folder.ts';
import { EXIT } from '../errors.ts';
import { notSucceeded } from '../results/summary.ts';
import { sayIntake } from './intake-words.ts';

export async function run(this: Context, flags: SheetFlags, sheet: string): Promise<number> {
  return send(this, flags, sheet, async (session, found, voice, how) => {
    if (how === 'attached') voice.say(`This sheet is already batch ${found.batch}. Attached.`);
    return follow({ session, found, voice, process: this.process, output: flags.output });
  });
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

type Next = (
  session: Session,
  found: FoundBatch,
  voice: Voice,
  how: 'started' | 'attached',
) => Promise<number>;

async function send(context: Context, flags: SheetFlags, sheet: string, next: Next): Promise<number> {
  const voice = voiceOf(context, flags);
  const config = configOf(flags);
  await checkWords(sheet, flags);
  const { stdin } = context.process;
  return withCopy(
    sheet,
    { out: config.out, stdin, ...(flags.format && { format: flags.format }) },
    async (copy) => {
      const made = await madeBefore(config, copy, flags);
      const found = made && { ...made, store: folderStore(made.folder) };
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
    const intake = await takeSheet(config, copy, flags);
    const { batch, folder, file } = intake;
    const found = { batch, folder, file, store: folderStore(folder) };
    const summary = await summaryOfDone(found);
    if (summary) return sayDone(voice, flags, found, summary);
    sayIntake(voice, config, intake);
    const [session = await opened(sessions, order)] = sessions;
    return await next(session, found, voice, await begin(session, found));
  } finally {
    await Promise.all(sessions.map((session) => session.close()));
  }
}

async function opened(sessions: Session[], order: SessionOrder): Promise<Session> {
  const session = await openSession(order);
  sessions.push(session);
  return session;
}

type Summary = NonNullable<Awaited<ReturnType<typeof summaryOfDone>>>;

function sayDone(
  voice: Voice,
  { output }: SheetFlags,
  { batch, folder }: FoundBatch,
  summary: Summary,
): number {
  voice.say(`This sheet is batch ${batch}, and it is done. A new batch of the same sheet: --again`);
  voice.raw(closing(summary, folder, voice.paint));
  if (output === 'json') voice.json({ ...summary, folder });
  else voice.data(folder);
  return notSucceeded(summary) === 0 ? EXIT.ok : EXIT.someRowsFailed;
}
