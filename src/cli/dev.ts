// dev: all servers of this place, until Ctrl-C; other commands join them meanwhile.

import { EXIT } from '../errors.ts';
import { followStack } from '../temporal/embedded/follower.ts';
import { voiceOf, type Context } from './context.ts';
import { hearInterrupts } from './interrupt.ts';
import { configOf } from './order.ts';

export default async function dev(
  this: Context,
  flags: { readonly out?: string; readonly output: 'text' | 'json' },
): Promise<number> {
  const voice = voiceOf(this);
  const config = configOf(flags);
  const interrupts = hearInterrupts(this.process);
  const stack = await followStack({ config, service: true, say: (words) => voice.say(words) });
  const { temporal, uiUrl, receiver, service } = stack;
  if (flags.output === 'json')
    voice.json({ address: temporal.address, namespace: temporal.namespace, uiUrl, receiver, service });
  else {
    voice.data(`temporal   ${temporal.address}, namespace ${temporal.namespace}`);
    voice.data(`pages      ${uiUrl}`);
    voice.data(`receiver   ${receiver ?? 'none'}`);
    voice.data(`service    ${service ?? 'none'}`);
  }
  voice.say('Ctrl-C ends them; runsheet run … --local joins them');
  await interrupts.first;
  interrupts.onSecond(() => stack.hurry());
  await stack.leave();
  interrupts.close();
  return EXIT.ok;
}
