// compare: the same rows in two batches.

import { definedOnly } from '../../options/defined-only.ts';
import type { FlagsOf } from '../flags/flags.ts';
import type { compareFlags } from './batch-flags.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { placeText } from '../../library/connect-options.ts';
import { findBatch } from '../../library/handle/find-batch.ts';
import { compareBatches, type Comparison } from '../../library/report/compared-batches.ts';
import { configOf } from '../flags/batch-options.ts';
import { printerFor, type Context, type Next } from '../context.ts';
import { ifPaid } from '../format.ts';
import { count, plural, span } from '../../options/text/printed-numbers.ts';
import { comparisonSchema } from '../json/documents.ts';
import { shaped } from '../json/shape.ts';
import { nextCommand } from '../next-command.ts';

type CompareFlags = FlagsOf<typeof compareFlags>;

export default async function compare(
  this: Context,
  flags: CompareFlags,
  a: string,
  b: string,
): Promise<void> {
  const { by, file } = flags;
  const config = configOf(flags);
  const { out } = config;
  const comparison = await compareBatches(config, [a, b], definedOnly({ by, file }));
  const printer = printerFor(this, flags);
  const page = placeText(comparison.page);
  if (flags.output === 'json') return printer.json(shaped(comparisonSchema, { ...comparison, page }));
  const { by: used, without_pairs: none } = comparison;
  if (none !== undefined) printer.notice(`${NO_PAIR[none]}; rows are paired by ${used} (--by ${used})`);
  for (const line of linesOf(comparison)) printer.data(terminalLine(line));
  printer.data(terminalLine(page));
  const batchFolder = await findBatch(config, comparison.b);
  const isHere = comparison.page.protocol === 'file:';
  // A browser opens a page in S3 only from a copy, with the folders of both batches beside it.
  const copy: Next = ['copy', `aws s3 sync ${shellWord(out)} batches`];
  printer.next(isHere ? ['open', nextCommand('open', batchFolder)] : copy);
}

const NO_PAIR = { key: 'no two rows have the same key', inputs: 'no two rows have the same inputs' };

function linesOf(comparison: Comparison): readonly string[] {
  const { a, b, pairs, identical, verdict, outcome_differs: differ, only } = comparison;
  return [
    `A ${sideText(comparison, 'a')}   ${a}`,
    `B ${sideText(comparison, 'b')}   ${b}`,
    ...(differ === 0 ? [] : [`${plural(differ, 'pair')} with another outcome`]),
    ...(only.a + only.b === 0 ? [] : [`${plural(only.a, 'row')} only in A, ${count(only.b)} only in B`]),
    ...[comparison.unmeasured].filter((text) => text !== undefined),
    [
      `${plural(pairs, 'pair')}, ${count(identical)} identical`,
      ...(verdict === undefined ? [] : [verdict]),
    ].join('; '),
  ];
}

/** The time, cost and GPU of the measured pairs on one side. */
const sideText = ({ measured, run_seconds, cost_usd, gpu }: Comparison, side: 'a' | 'b'): string =>
  measured === 0
    ? 'not measured'
    : [gpu[side], span(run_seconds[side]), ifPaid(cost_usd[side], String)].filter(Boolean).join('  ');
