// pick: gives a stage of a pipeline the rows that it takes.

import type { RowRange } from '../../options/batch-kinds.ts';
import { givePicks } from '../../library/pipeline/stage-picks.ts';
import { findPipeline } from '../../library/pipeline/pipeline-status.ts';
import { printerFor, type Context } from '../context.ts';
import { configOf } from '../flags/batch-options.ts';
import { plural } from '../../options/text/printed-numbers.ts';
import { continuePipeline } from './pipeline.ts';

type PickFlags = {
  readonly picks?: string;
  readonly key?: readonly string[];
  readonly row?: readonly RowRange[];
  readonly out?: string;
  readonly quiet: boolean;
};

export default async function pick(
  this: Context,
  flags: PickFlags,
  name: string,
  stage: string,
): Promise<number> {
  const config = configOf(flags);
  const opened = await findPipeline(config.out, name);
  const {
    rows,
    picked = rows,
    where,
    refuseOther,
  } = await givePicks(config, opened, stage, {
    path: flags.picks,
    keys: flags.key,
    rows: flags.row,
  });
  const filterNote = rows < picked ? ` of ${picked} picks: those where ${where}` : '';
  printerFor(this, flags).notice(`stage ${stage} takes ${plural(rows, 'row')}${filterNote}`);
  return continuePipeline(this, flags, opened, refuseOther);
}
