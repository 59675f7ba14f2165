// Compares two batches and writes the comparison page. By default it lies beside the two batch folders,
// also in S3, so that its links are short and the whole folder is movable.

import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { problem } from '../../errors/error.ts';
import { throwFault } from '../../errors/file-fault.ts';
import { isS3Address } from '../../host/s3-address.ts';
import { compareRows, pairedByDefault, type ComparedRows } from '../../results/compare/compared-rows.ts';
import { PAIRED_BY, type PairedBy } from '../../options/choices.ts';
import { unmeasuredText, verdictOf, type ComparisonSums } from '../../results/compare/compared-pair.ts';
import { undefinedIfAbsent, startOf, type Store } from '../../store/store.ts';
import { locationOf } from '../../store/batch-folders.ts';
import { openStore } from '../../store/open-store.ts';
import type { Abortable } from '../abortable.ts';
import { filePlaceOf, placeUrl } from '../connect-options.ts';
import { linkFrom } from '../handle/exported-batch.ts';
import type { Config } from '../../host/settings/config.ts';
import { findBatch } from '../handle/find-batch.ts';
import type { FoundBatch } from '../handle/found-batch.ts';

export type CompareOptions = Abortable & {
  /** How rows are paired (default: `key` if both sheets have a key column, else `inputs`; the other way if no rows match). */
  readonly by?: PairedBy;
  /** The page (default: `compare-<a>-<b>.html` in the folder of the batches). */
  readonly file?: string | URL;
};

/** `a` and `b` are batch ids. Ratios are those of sums over pairs that succeeded in both; they are undefined without such a pair. */
export type Comparison = ComparisonSums & {
  readonly a: string;
  readonly b: string;
  readonly by: PairedBy;
  /** The default pairing, if no rows were a pair by it; `by` is the other one. */
  readonly without_pairs: PairedBy | undefined;
  /** `H100 3.1× faster, 1.4× dearer`; undefined if no pair succeeded in both. */
  readonly verdict: string | undefined;
  /** How many pairs succeeded, and why some of them say nothing about speed; undefined if all of them do. */
  readonly unmeasured: string | undefined;
  readonly page: URL;
};

/** Throws E570 if the batches share no row. */
export async function compareBatches(
  config: Config,
  [nameA, nameB]: readonly [string, string],
  { by: wanted, file: wantedFile }: CompareOptions = {},
): Promise<Comparison> {
  const { out } = config;
  const [a, b] = [await findBatch(config, nameA), await findBatch(config, nameB)];
  if (a.batch === b.batch)
    throw problem('E602', {
      what: `${a.batch} is compared with itself`,
      hint: 'name two batches; to list them: runsheet list',
    });
  if (wanted !== undefined && !PAIRED_BY.includes(wanted))
    throw problem('E602', { what: `rows are not paired by ${wanted as string}`, hint: PAIRED_BY.join(', ') });
  const target = await targetOf(out, a, b, wantedFile);
  const { by, first, sums, page } = await paired(a, b, wanted);
  if (sums.pairs === 0)
    throw problem('E570', { a: a.batch, b: b.batch, by, other: wanted && otherThan(wanted) });
  const verdict = verdictOf(sums, b.batch);
  const from = dirname(target);
  const at = ({ batch, file, folder, store }: FoundBatch) => ({
    batch,
    file,
    base: `${store.localPath ? linkFrom(from, folder) : batch}/`,
  });
  const draft = await openStore(from).draft(basename(target), 'view').catch(throwFault);
  try {
    await page.write(draft, { a: at(a), b: at(b), sums, verdict });
    await draft.commit();
  } finally {
    await draft.discard();
  }
  const written = placeUrl(target);
  const without_pairs = first === by ? undefined : first;
  return {
    a: a.batch,
    b: b.batch,
    by,
    without_pairs,
    ...sums,
    verdict,
    unmeasured: unmeasuredText(sums),
    page: written,
  };
}

const otherThan = (by: PairedBy): PairedBy => (by === 'key' ? 'inputs' : 'key');

/** Pairs rows as the user wants, else by the default, else the other way. */
async function paired(
  a: FoundBatch,
  b: FoundBatch,
  wanted: PairedBy | undefined,
): Promise<ComparedRows & { readonly by: PairedBy; readonly first: PairedBy }> {
  const first = wanted ?? pairedByDefault(a.file, b.file);
  const compared = await compareRows(a, b, first);
  if (compared.sums.pairs > 0 || wanted !== undefined) return { ...compared, by: first, first };
  const by = otherThan(first);
  return { ...(await compareRows(a, b, by)), by, first };
}

/** Throws E602 for a file that is not a comparison, or that is outside the batches folder. */
async function targetOf(out: string, a: FoundBatch, b: FoundBatch, wanted: string | URL | undefined) {
  const own = locationOf(out, `compare-${a.batch}-${b.batch}.html`);
  const path = wanted === undefined ? own : filePlaceOf(wanted);
  if (a.store.localPath ? isS3Address(path) : dirname(path) !== out)
    throw problem('E602', {
      what: `${path} is not where the batches are, so its page would not find their files`,
      hint: 'leave the file out: the page lies beside the batches then',
    });
  const [store, name] = [openStore(dirname(path)), basename(path)];
  if (store.localPath && (await stat(path).catch(undefinedIfAbsent))?.isDirectory())
    throw problem('E602', { what: `${path} is a folder`, hint: `--file ${join(path, basename(own))}` });
  if ((await store.exists(name)) && !(await beginsAsComparison(store, name)))
    throw problem('E602', {
      what: `${path} exists and is no comparison`,
      hint: `choose another --file, or none: ${own}`,
    });
  return path;
}

const beginsAsComparison = async (store: Store, name: string): Promise<boolean> =>
  (await startOf(store, name, 512)).includes('content="runsheet comparison"');
