// demoLoop: the process of the loop that `demo --kill` shows beside a batch; only that command starts it.

import { EXIT } from '../../errors/error.ts';
import { configOf } from '../flags/batch-options.ts';
import { printerFor, type Context } from '../context.ts';
import { loopByHand } from './by-hand.ts';

type Flags = { readonly deployment: string; readonly rows: number; readonly concurrency: number };

/** Prints a line for each row that is done. */
export default async function demoLoop(this: Context, flags: Flags): Promise<number> {
  const printer = printerFor(this);
  const { apiUrl: base = '', apiKey } = configOf({});
  await loopByHand({ ...flags, base, key: apiKey()?.value ?? '', done: () => printer.data('done') });
  return EXIT.ok;
}
