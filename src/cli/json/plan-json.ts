// A plan and its forecast as JSON: for a new batch, or with --into for rows that are added to one.

import { z } from 'zod';
import type { CreatedBatch } from '../../batches/make-batch.ts';
import type { AskedQuestion } from '../../library/start/batch-plan.ts';
import type { Estimate } from '../../results/estimate.ts';
import { ignoredGpus, type EarlierBatches } from '../../batches/questions.ts';
import { type ColumnUse, USES } from '../../sheet/column-use.ts';
import { type Guess, isAbout, unconfirmed } from '../../sheet/guesses/guess.ts';
import { count, shaped, amount, limitsOf, limitsSchema } from './shape.ts';

/** A 90 % prediction interval. */
const interval = z.object({ low: amount, expected: amount, high: amount });

const amounts = {
  rows: count,
  runs: count.describe('known runs that the forecast rests on'),
  usd_per_run_second: amount.nullable(),
  cost_usd: interval.nullable(),
  seconds: interval.nullable(),
};

export const estimateSchema = z.object({
  source: z.enum(['earlier_batches', 'canary', 'prices']),
  batches: z.array(z.string()),
  ...amounts,
  by_gpu: z.record(z.string(), z.object(amounts)),
});

const shared = z.array(
  z.object({ batch: z.string(), rows: count, first: z.array(count), is_version_sure: z.boolean() }),
);

export const planSchema = z.object({
  batch: z.string().describe('the batch that run would make, or with --into the one that gets the rows'),
  deployment: z.object({ id: z.string(), name: z.string().nullable(), gpu: z.string().nullable() }),
  service: z.object({ base: z.string(), api: z.enum(['v1', 'v2']), rehearsal: z.boolean() }),
  rows: count,
  repeats: count.describe('rows that repeat an earlier one'),
  reused: count,
  refused: z
    .object({
      rows: count,
      first: z.array(z.object({ row: count, key: z.string(), reason: z.string() })),
    })
    .nullable()
    .describe('rows that cannot be read and are not sent (--invalid skip), and the first ten of them'),
  columns: z.array(z.string()),
  unused_columns: z.array(z.string()),
  column_uses: z
    .array(
      z.object({
        column: z.string(),
        first: z.string().nullable().describe('the first filled cell, shortened; null if all are empty'),
        uses: z
          .array(z.object({ as: z.enum(USES), input: z.string().nullable(), type: z.string().nullable() }))
          .describe('empty if nothing of the column is sent'),
        filled: z
          .object({ cells: count, left: count, group: z.string().nullable() })
          .nullable()
          .describe(
            'with --fill-down: its cells that have the value above, those left empty because their group has no value or several files, and the column of the groups',
          ),
        questions: z.array(z.string()).describe('what run asks about this column'),
      }),
    )
    .describe('the use of each column'),
  inputs: z
    .array(
      z.object({
        input: z.string(),
        type: z.string(),
        column: z.string().nullable(),
        value: z.unknown().nullable(),
      }),
    )
    .describe('each with the column that fills it, or the value of --set'),
  gpus: z.record(z.string(), count).describe('rows by GPU; "" for those that name none'),
  gpus_may_be_ignored: z
    .boolean()
    .describe('the deployment has another GPU, so the service may ignore those that rows ask for'),
  files: z
    .object({
      files: count,
      bytes: count,
      to_upload: z.object({ files: count, bytes: count }),
      outside: count,
    })
    .nullable()
    .describe(
      'files of this machine that rows name, by content; outside: of the folder of the sheet, and never uploaded before',
    ),
  limits: limitsSchema,
  estimate: estimateSchema,
  requests: z
    .array(z.string())
    .describe(
      'the first requests as they would be sent, each as JSON: a number may have more digits than a program keeps',
    ),
  earlier: z.object({
    same: z.string().nullable().describe('the batch of the same rows, to which run would attach'),
    done: shared,
    open: shared,
    unknown: shared,
    undelivered: shared,
  }),
  canary_rows: z.array(z.object({ row: count })).nullable(),
  not_guaranteed: z.array(z.string()).describe('what a V1 service cannot guarantee'),
  questions: z
    .array(
      z.object({
        id: z.string(),
        text: z.string(),
        answers: z.array(
          z.object({ text: z.string().nullable(), flags: z.array(z.string()), option: z.string() }),
        ),
      }),
    )
    .describe('what run asks about; a script needs the flags that answer'),
  into: z.object({ appended: count, changed: count, same: count }).nullable(),
});

type PlanParts = {
  readonly batch: Pick<CreatedBatch, 'batch' | 'file'> & {
    readonly laidOut: Pick<NonNullable<CreatedBatch['laidOut']>, 'gpus' | 'unused' | 'files' | 'refused'> &
      Partial<Pick<NonNullable<CreatedBatch['laidOut']>, 'uses' | 'guesses'>>;
  };
  readonly rows?: number;
  readonly estimate: Estimate;
  readonly requests?: readonly object[];
  readonly earlier?: EarlierBatches;
  readonly canary?: readonly number[] | undefined;
  readonly notGuaranteed?: readonly string[];
  readonly questions: readonly AskedQuestion[];
  readonly into?: { readonly appended: number; readonly changed: number; readonly same: number };
};

export function planJson({
  batch: { batch, file, laidOut },
  ...planned
}: PlanParts): z.infer<typeof planSchema> {
  const { sheet, deployment, service } = file;
  const { earlier = {} } = planned;
  return shaped(planSchema, {
    batch,
    deployment,
    service,
    rows: planned.rows ?? sheet.rows,
    repeats: sheet.repeats,
    reused: sheet.reused ?? 0,
    refused: laidOut.refused,
    columns: sheet.columns,
    unused_columns: laidOut.unused,
    column_uses: (laidOut.uses ?? []).map((use) => columnUseOf(use, laidOut.guesses ?? [])),
    inputs: sheet.inputs.map(({ input, kind, from }) => ({ input, type: kind, ...from })),
    gpus: laidOut.gpus,
    gpus_may_be_ignored: ignoredGpus(file, laidOut.gpus) !== undefined,
    files: filesOf(laidOut.files),
    limits: limitsOf(file),
    estimate: planned.estimate,
    requests: (planned.requests ?? []).map((request) => JSON.stringify(request)),
    earlier: {
      same: earlier.same,
      done: sharedOf(earlier.done),
      open: sharedOf(earlier.open),
      unknown: sharedOf(earlier.unknown),
      undelivered: sharedOf(earlier.undelivered),
    },
    canary_rows: planned.canary?.map((row) => ({ row })),
    not_guaranteed: planned.notGuaranteed ?? [],
    questions: planned.questions,
    into: planned.into,
  });
}

const columnUseOf = ({ name, first, uses, filled }: ColumnUse, guesses: readonly Guess[]) => ({
  column: name,
  first,
  filled: filled && { group: undefined, ...filled },
  uses: uses.map((use) => ({ input: undefined, type: undefined, ...use })),
  questions: unconfirmed(guesses).flatMap((guess) => (isAbout(guess, name) ? [guess.text] : [])),
});

const filesOf = (files: PlanParts['batch']['laidOut']['files']) =>
  files && { ...files, to_upload: files.toUpload, outside: files.outside.files };

const sharedOf = (rows: EarlierBatches['done'] = []) =>
  rows.map(({ isVersionSure, ...row }) => ({ ...row, is_version_sure: isVersionSure }));
