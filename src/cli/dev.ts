// dev: all servers of this place, until Ctrl-C; other commands join them meanwhile.

import { EXIT } from '../errors/error.ts';
import { followStack } from '../temporal/embedded/follower.ts';
import { voiceOf, type Context } from './context.ts';
import { hearInterrupts } from './interrupt.ts';
import { configOf } from './batch-options.ts';

export default async function dev(
  this: Context,
  flags: { readonly out?: string; readonly output: 'text' | 'json' },
): Promise<number> {
  const voice = voiceOf(this);
  const config = configOf(flags);
  const interrupts = hearInterrupts(this.process);
  const stack = await followStack({ config, service: true, say: (words) => voice.say(words) });
  const { temporal, uiUrl, receiver, service, livePage } = stack;
  const { address, namespace } = temporal;
  if (flags.output === 'json') voice.json({ address, namespace, uiUrl, receiver, service, livePage });
  else {
    voice.data(`temporal   ${address}, namespace ${namespace}`);
    voice.data(`pages      ${uiUrl}`);
    voice.data(`receiver   ${receiver ?? 'none'}`);
    voice.data(`service    ${service ?? 'none'}`);
    voice.data(`live page  ${livePage ?? 'none'}`);
  }
  voice.say('Both pages open for whoever has these addresses: give them to nobody.');
  voice.say('Ctrl-C ends them; runsheet run … --local joins them');
  await interrupts.first;
  interrupts.onSecond(() => stack.hurry());
  await stack.leave();
  interrupts.close();
  return EXIT.ok;
}
