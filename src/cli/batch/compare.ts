// compare: the same rows in two batches.

import { definedOnly } from '../../options/defined-only.ts';
import type { FlagsOf } from '../flags/flags.ts';
import type { compareFlags } from './batch-flags.ts';
import { EXIT, problem } from '../../errors/error.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { placeText } from '../../library/connect-options.ts';
import { findBatch } from '../../library/handle/found-batch.ts';
import type { PageServer } from '../../library/report/page-server.ts';
import { compareBatches, type Comparison } from '../../library/report/compared-batches.ts';
import type { ComparedPair, ComparedRow } from '../../results/compare/compared-pair.ts';
import { configOf } from '../flags/batch-options.ts';
import { printerFor, type Context, type Printer, type Next } from '../context.ts';
import { aligned, count, money, plural, span } from '../format.ts';
import { comparisonSchema } from '../json/documents.ts';
import { shaped } from '../json/shape.ts';
import { hearInterrupts } from '../follow/interrupt.ts';
import { nextCommand, sameCommand } from '../next-command.ts';

type Flags = FlagsOf<typeof compareFlags>;

export default async function compare(this: Context, flags: Flags, a: string, b: string): Promise<number> {
  const { by, file } = flags;
  if (flags.serve && file !== undefined)
    throw problem('E602', {
      what: '--serve and --file exclude each other: the page that is served lies beside the batches',
      hint: 'leave --file out',
    });
  const { out } = configOf(flags);
  const comparison = await compareBatches(out, [a, b], definedOnly({ by, file }));
  const printer = printerFor(this, flags);
  const served = flags.serve ? await serve(out, comparison) : undefined;
  const page = served?.address ?? placeText(comparison.page);
  if (flags.output === 'json') {
    const mostChanged = comparison.most_changed.map((pair) => ({ ...pair, identical: pair.isIdentical }));
    printer.json(shaped(comparisonSchema, { ...comparison, page, most_changed: mostChanged }));
    return served === undefined ? EXIT.ok : untilInterrupted(this, printer, served);
  }
  const { by: used, without_pairs: none } = comparison;
  if (none !== undefined) printer.notice(`${NO_PAIR[none]}; rows are paired by ${used} (--by ${used})`);
  for (const line of linesOf(comparison)) printer.data(terminalLine(line));
  printer.data(terminalLine(page));
  if (served !== undefined) return untilInterrupted(this, printer, served);
  const found = await findBatch(out, comparison.b);
  const isHere = comparison.page.protocol === 'file:';
  // A browser cannot open a page in S3.
  const view: Next = ['view', sameCommand(this.args ?? [], 'compare', { add: ['--serve'] })];
  printer.next(isHere ? ['open', nextCommand('open', found)] : view);
  return EXIT.ok;
}

async function serve(out: string, comparison: Comparison): Promise<PageServer> {
  const { serveComparison } = await import('../../library/report/comparison-server.ts');
  return serveComparison(out, comparison);
}

async function untilInterrupted({ process }: Context, printer: Printer, { idle, close }: PageServer) {
  using interrupts = hearInterrupts(process);
  printer.notice('Ctrl-C ends the page. Everyone who has this address can see both batches.');
  await Promise.race([interrupts.first, idle]);
  await close();
  return EXIT.ok;
}

const NO_PAIR = { key: 'no two rows have the same key', inputs: 'no two rows have the same inputs' };

function linesOf(comparison: Comparison): readonly string[] {
  const { a, b, most_changed: most, pairs, identical, verdict, outcome_differs: differ, only } = comparison;
  const table = aligned(most.map(cellsOf)).map((line) => `  ${line}`);
  const others = pairs - identical - most.length;
  return [
    `A ${sideText(comparison, 'a')}   ${a}`,
    `B ${sideText(comparison, 'b')}   ${b}`,
    ...(table.length === 0 ? [] : ['', ...table]),
    ...(others > 0
      ? [`  and ${plural(others, 'other pair')} that ${others === 1 ? 'differs' : 'differ'}`]
      : []),
    '',
    ...(differ === 0 ? [] : [`${plural(differ, 'pair')} with another outcome`]),
    ...(only.a + only.b === 0 ? [] : [`${plural(only.a, 'row')} only in A, ${count(only.b)} only in B`]),
    ...[comparison.unmeasured].filter((text) => text !== undefined),
    [
      `${plural(pairs, 'pair')}, ${count(identical)} identical`,
      ...(verdict === undefined ? [] : [verdict]),
    ].join('; '),
  ];
}

/** What its measured pairs took. */
const sideText = ({ measured, run_seconds, cost_usd, gpu }: Comparison, side: 'a' | 'b'): string =>
  measured === 0
    ? 'not measured'
    : [gpu[side], span(run_seconds[side] * 1_000), money(cost_usd[side])].filter(Boolean).join('  ');

function cellsOf({ key, a, b, isIdentical, changes }: ComparedPair): readonly string[] {
  const both = (text: (row: ComparedRow) => string): string =>
    text(a) === text(b) ? text(a) : `${text(a)} → ${text(b)}`;
  return [
    key.slice(0, 32),
    both(({ outcome }) => outcome),
    both(({ run_seconds }) => (run_seconds === undefined ? '–' : span(run_seconds * 1_000))),
    both(({ cost_usd }) => money(cost_usd)),
    [isIdentical ? 'identical' : '', ...changes.map(({ input }) => `${input} differs`)]
      .filter(Boolean)
      .join(', '),
  ];
}
