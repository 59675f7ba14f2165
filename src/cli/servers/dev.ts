// dev: runs all servers until Ctrl-C, for commands in other terminals.

import type { ShownFlags } from '../flags/flags.ts';
import { followStack } from '../../temporal/embedded/follower.ts';
import { onTerminal, printerFor, type Context } from '../context.ts';
import { hearInterrupts } from '../follow/interrupt.ts';
import { REHEARSAL } from '../next-command.ts';
import { configOf } from '../flags/batch-options.ts';
import { serversSchema } from '../json/documents.ts';
import { shaped } from '../json/shape.ts';

export default async function dev(this: Context, flags: ShownFlags): Promise<void> {
  const printer = printerFor(this, flags);
  const config = configOf(flags);
  using interrupts = hearInterrupts(this.process);
  const stack = await followStack({
    config,
    service: true,
    stays: true,
    notice: (text) => printer.notice(text),
  });
  const { address, namespace, receiver, service, dashboardPage } = stack.ready;
  if (flags.output === 'json')
    printer.json(
      shaped(serversSchema, {
        address,
        namespace,
        receiver,
        service,
        live_page: dashboardPage,
      }),
    );
  else {
    printer.data(`temporal   ${address}, namespace ${namespace}`);
    printer.data(`receiver   ${receiver ?? 'none'}`);
    printer.data(`service    ${service ?? 'none'}`);
    printer.data(`live page  ${onTerminal(this, dashboardPage)}`);
  }
  printer.notice('Everyone who has the address of the page can open it: keep it secret.');
  printer.notice('Ctrl-C ends the servers; commands in other terminals use them');
  printer.next(['run', REHEARSAL]);
  await interrupts.first;
  interrupts.onSecond(() => stack.hurry());
  await stack.leave();
}
