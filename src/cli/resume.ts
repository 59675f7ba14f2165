// resume: lets a paused batch go on, with the user's word on attempts that nobody knows of where that is what it waits for.

import { EXIT } from '../errors.ts';
import { findBatch } from './batch-name.ts';
import { voiceOf, type Context } from './context.ts';
import { begin, summaryOfDone } from './begin.ts';
import { follow } from './follow.ts';
import { configOf } from './order.ts';
import { withSession } from './session.ts';

type Flags = {
  readonly uncertain?: 'unknown' | 'fail' | 'resubmit';
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
