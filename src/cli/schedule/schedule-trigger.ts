// schedule trigger: fires now, or at past times of the rule.

import type { ScheduleDefinition } from '../../schedule/definition.ts';
import { instantOf, zoneOf, type Zone } from '../../schedule/zone.ts';
import { problem } from '../../errors/error.ts';
import { printerFor, type Context } from '../context.ts';
import { triggerSchema } from '../json/schedule.ts';
import { shaped } from '../json/shape.ts';
import { sayNext, type Next } from '../next-command.ts';
import { openSession } from '../session.ts';

type Flags = {
  readonly from?: string;
  readonly to?: string;
  readonly out?: string;
  readonly output: 'text' | 'json';
};

export default async function trigger(this: Context, flags: Flags, name: string): Promise<void> {
  const printer = printerFor(this);
  if ((flags.from === undefined) !== (flags.to === undefined))
    throw problem('E602', {
      what: '--from and --to belong together',
      hint: `for example: runsheet schedule trigger ${name} --from 2026-11-01 --to 2026-11-07`,
    });
  await using session = await openSession(flags, printer);
  const { schedules, stack } = session;
  const handle = schedules.getHandle(name);
  const { definition } = await handle.describe();
  const batches = await handle.trigger(betweenOf(flags, zoneOf(definition.timezone)));
  if (flags.output === 'json') printer.json(shaped(triggerSchema, { schedule: name, batches }));
  else for (const batch of batches) printer.name(batch);
  if (batches.length === 0) printer.notice(flags.from === undefined ? notNow(definition) : NO_TIMES);
  else if (stack) printer.notice('it runs while the embedded servers do');
  sayNext(printer, flags.output, ...nextOf(name, batches, stack !== undefined));
}

const NO_TIMES = 'no time of the rule lies between --from and --to';
const notNow = ({ name, overlap }: ScheduleDefinition): string =>
  `a batch of ${name} is running, so this firing ${overlap === 'skip' ? 'was left out' : 'waits for its end'}`;

function nextOf(name: string, [first]: readonly string[], isEmbedded: boolean): readonly Next[] {
  if (first === undefined) return [['show', `runsheet schedule show ${name}`]];
  return isEmbedded
    ? [
        ['servers', 'runsheet dev'],
        ['status', `runsheet status ${first}`],
      ]
    : [['follow', `runsheet follow ${first}`]];
}

function betweenOf({ from, to }: Flags, zone: Zone): { readonly from: Date; readonly to: Date } | undefined {
  if (from === undefined || to === undefined) return undefined;
  const [first, last] = [timeOf('--from', from, zone, '00:00'), timeOf('--to', to, zone, '23:59')];
  if (first > last) throw problem('E602', { what: '--from is after --to', hint: 'swap them' });
  // Times to come fire at their time.
  return { from: first, to: new Date(Math.min(last.getTime(), Date.now())) };
}

/** A time on the clock of the schedule's zone, unless the text has an offset. */
function timeOf(flag: string, text: string, zone: Zone, clock: string): Date {
  const [, date, time = clock, offset] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d))?(?::\d\d)?(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  const shown = Date.parse(`${date}T${time}${offset ?? 'Z'}`);
  if (Number.isNaN(shown))
    throw problem('E602', {
      what: `${flag} ${text} is not a time`,
      hint: 'examples: 2026-11-01, 2026-11-01T02:00',
    });
  return new Date(offset === undefined ? instantOf(zone, shown) : shown);
}
