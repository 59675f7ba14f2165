// Writes one part: up to a hundred rows with an outcome, and the files of those that succeeded. A part is created once, as a
// whole, and never changes: a retry that finds it returns its content. A row whose files cannot be downloaded now is deferred.

import { Context } from '@temporalio/activity';
import pMap from 'p-map';
import type { DeferredRow, PartResult } from '../src/batch/events.ts';
import type { EndedRow } from '../src/batch/state/row-state.ts';
import { recordsBefore } from '../src/results/batch-rows.ts';
import { parsePart, partName } from '../src/results/parts.ts';
import { isFetched, placeOf, type PartRecord } from '../src/results/row-record.ts';
import { FileTraffic, type Traffic } from '../src/run-service/file-traffic.ts';
import { runCostsIn, tallyChange, unpricedIn } from '../src/results/tally-rows.ts';
import type { Deps, OpenBatch } from './deps.ts';
import type { BatchRef } from '../src/batch/batch-ref.ts';
import { recordRow } from './record-row.ts';
import { StoreConflict, withStore } from './store-failure.ts';

export type CollectInput = BatchRef & {
  readonly pass: number;
  readonly part: number;
  readonly rows: readonly EndedRow[];
};

const CONCURRENCY = 16;

/** Its heartbeats show the {@link Traffic} of its downloads. */
export function collectRows(
  deps: Deps,
  input: CollectInput,
  show: (details: () => Traffic) => void = () => undefined,
): Promise<PartResult> {
  return withStore(async () => {
    const traffic = new FileTraffic();
    show(() => traffic.now());
    const open = await deps.open(input);
    const name = partName(input.pass, input.part);
    const before = await open.store.read(name);
    const result =
      before === undefined
        ? await writePart(deps, open, { ...input, traffic }, name)
        : resultOf({ open, input, name }, before, []);
    deps.traces?.partCollected(deps, open, name);
    return result;
  });
}

async function writePart(
  deps: Deps,
  open: OpenBatch,
  input: CollectInput & { readonly traffic: FileTraffic },
  name: string,
): Promise<PartResult> {
  // A stopping worker does not wait for slow files; another worker continues with them.
  const signal = AbortSignal.any([Context.current().cancellationSignal, deps.posts.stopping]);
  const pageRows = await deps.readRows(
    open,
    input.rows.map(({ place }) => place),
  );
  const recordBefore = recordsBefore(open.store);
  const records: PartRecord[] = [];
  const deferred: DeferredRow[] = [];
  const collected = await pMap(
    input.rows,
    (ended) =>
      recordRow(deps, open, {
        ended,
        row: pageRows.get(ended.place),
        recordBefore,
        pass: input.pass,
        signal,
        traffic: input.traffic,
      }),
    { concurrency: CONCURRENCY, signal },
  );
  for (const one of collected)
    if ('kind' in one) deferred.push(one);
    else records.push(one);
  // If Temporal has abandoned this attempt of the activity, another one may be writing.
  signal.throwIfAborted();
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const isNew = await open.store.create(name, text);
  return resultOf({ open, input, name }, isNew ? text : ((await open.store.read(name)) ?? ''), deferred);
}

type Collecting = {
  readonly open: Pick<OpenBatch, 'file'>;
  readonly input: CollectInput;
  readonly name: string;
};

/** The result from an existing part; its missing rows are deferred. Throws {@link StoreConflict} if the part has other rows. */
function resultOf(
  { open, input: { rows }, name }: Collecting,
  text: string,
  deferred: readonly DeferredRow[],
): PartResult {
  const { ladder = [] } = open.file.sheet.options;
  const records = parsePart(text);
  const asked = new Set(rows.map(({ place }) => place));
  const other = records.find((record) => !asked.has(placeOf(record)));
  if (other !== undefined)
    throw new StoreConflict(`${name} already exists, with row ${other.row}, which belongs in another part`);
  const written = new Set(records.map(placeOf));
  const missing = rows.filter(({ place }) => !written.has(place));
  const reasons = new Map(deferred.map((one) => [one.place, one]));
  const unpriced = records.flatMap((record) =>
    unpricedIn(record).map(({ gpu_asked = '' }) => ({
      place: placeOf(record),
      rung: ladder.indexOf(gpu_asked),
    })),
  );
  const costs =
    open.file.reserve === undefined ? [] : records.flatMap((record) => runCostsIn(record, ladder));
  return {
    tally: tallyChange(records),
    ...(costs.length === 0 ? {} : { costs }),
    ...(unpriced.length === 0 ? {} : { unpriced: unpriced.map(({ place }) => place) }),
    ...(unpriced.length === 0 || ladder.length === 0
      ? {}
      : { unpricedRungs: unpriced.map(({ rung }) => rung) }),
    again: records.filter(({ before }) => before !== undefined).length,
    fetched: records.filter(isFetched).length,
    deferred: missing.map(
      ({ place }) => reasons.get(place) ?? { place, kind: 'host', reason: 'another try wrote the part' },
    ),
  };
}
