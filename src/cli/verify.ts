// verify: what summary.json says, counted again from the batch's parts and files and from the service's own lists.

import { KnownRuns } from '../account/known-runs.ts';
import { readLists, type Reading } from '../account/reading.ts';
import { findings, recount, type Finding } from '../account/recount.ts';
import { EXIT, problem, RunsheetError } from '../errors.ts';
import { terminalLine } from '../outside-text.ts';
import type { Summary } from '../results/summary.ts';
import { openServices } from '../run-service/services.ts';
import { openTransport } from '../run-service/transport.ts';
import { findBatch, type FoundBatch } from './batch-name.ts';
import { summaryOfDone } from './begin.ts';
import { voiceOf, type Context } from './context.ts';
import { configOf } from './order.ts';

type Flags = { readonly files: boolean; readonly out?: string; readonly output: 'text' | 'json' };

export default async function verify(this: Context, flags: Flags, name: string | undefined): Promise<number> {
  const voice = voiceOf(this);
  const found = await findBatch(configOf(flags).out, name);
  const summary = await summaryOfDone(found);
  if (summary === undefined) throw problem('E509', { batch: found.batch });
  const counted = await recount(found.store, found.file, flags.files);
  const reading = await reachable(found, summary);
  const all = findings(summary, counted, reading);
  const wrong = all.filter(({ holds }) => !holds);
  if (flags.output === 'json') voice.json({ batch: found.batch, holds: wrong.length === 0, findings: all });
  else for (const finding of all) voice.data(lineOf(finding));
  if (wrong.length > 0) throw problem('E510', { batch: found.batch, wrong: wrong.map(({ claim }) => claim) });
  voice.say(`${found.batch} adds up${reading === undefined ? '; the service was not asked' : ''}`);
  return EXIT.ok;
}

const lineOf = ({ claim, holds, said }: Finding): string =>
  terminalLine(`${holds ? 'ok ' : 'NOT'}  ${claim}: ${said}`);

/** undefined where the service of the batch cannot be asked from here. */
async function reachable({ file, store }: FoundBatch, { began_at }: Summary): Promise<Reading | undefined> {
  try {
    const service = openServices(configOf({}), openTransport(4)).at(file.service);
    const known = await KnownRuns.of(store, file);
    return await readLists({ file, service, known, since: Date.parse(began_at), cancels: false });
  } catch (error) {
    if (error instanceof RunsheetError) return undefined;
    throw error;
  }
}
