// resume: lets a paused batch go on, with the user's word on attempts that nobody knows of where that is what it waits for.

import { assertQuiet, endQuiet } from '../account/quiet.ts';
import { recover } from '../account/recovery.ts';
import { EXIT } from '../errors.ts';
import { writeStarted } from '../store/batch-file.ts';
import { openServices } from '../run-service/services.ts';
import { openTransport } from '../run-service/transport.ts';
import { findBatch, type FoundBatch } from './batch-name.ts';
import { voiceOf, type Context, type Voice } from './context.ts';
import { begin, summaryOfDone } from './begin.ts';
import { follow } from './follow.ts';
import { configOf } from './order.ts';
import { withSession, type Session } from './session.ts';
import { count } from './words.ts';

type Flags = {
  readonly uncertain?: 'unknown' | 'fail' | 'resubmit';
  readonly recover: boolean;
  readonly out?: string;
  readonly output: 'text' | 'json';
};

export default async function resume(this: Context, flags: Flags, name: string | undefined): Promise<number> {
  const voice = voiceOf(this);
  const found = await findBatch(configOf(flags).out, name);
  if (await summaryOfDone(found)) {
    voice.say(`${found.batch} is done; there is nothing to resume`);
    return EXIT.ok;
  }
  return withSession(flags, found, voice, async (session) => {
    if (flags.recover) await startAgain(session, found, voice);
    await begin(session, found);
    const view = await session.batches.resume(found.batch, flags.uncertain);
    voice.say(`${found.batch} goes on`);
    if (session.stack === undefined) {
      if (flags.output === 'json') voice.json(view);
      return EXIT.ok;
    }
    return follow({ session, found, voice, process: this.process, output: flags.output });
  });
}

/** R20: the batch as its parts and the service's lists show it. */
async function startAgain(session: Session, found: FoundBatch, voice: Voice): Promise<void> {
  const { batch, folder, file } = found;
  const service = openServices(configOf({}), openTransport(4)).at(file.service);
  const now = Date.now();
  // Says what will not go, or that the batch goes on after all, before anything is given up.
  const { carried, done, waiting, again } = await recover(found, service, now);
  const isRunning = await session.batches.isRunning(batch);
  if (isRunning) {
    // What was read before it ended is not the last word: it must be quiet anew.
    await endQuiet(found.store);
    await session.batches.giveUp(batch);
  }
  await assertQuiet(found, isRunning ? Date.now() : now);
  await session.batches.start({ batch, folder }, { carried, startedAt: Date.parse(file.createdAt) });
  // From now on its workers work for this execution, and for no earlier one.
  await writeStarted(found.store, await session.batches.execution(batch));
  await endQuiet(found.store);
  voice.say(
    `${batch} is rebuilt: ${count(done)} rows are done, ${count(waiting)} have their run, ${count(again)} are sent again`,
  );
}
