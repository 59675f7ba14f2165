// Settles what is guessed about the sheet of a new batch, and lays it out.

import { randomBytes } from 'node:crypto';
import { equalRows, restingOn, unconfirmed, type Guess, type SettledSheet } from '../sheet/guesses/guess.ts';
import { settleSheet } from '../sheet/guesses/settle-sheet.ts';
import { layOut, type LaidOut } from '../sheet/sheet.ts';
import { isWorkbook } from '../sheet/formats.ts';
import { GIVEN_ROWS, sourceIn } from '../sheet/sheet-source.ts';
import { haveOptionalParts } from '../sheet/templates.ts';
import { refuseUnbounded, refuseUntried } from '../store/attempt-cost-bound.ts';
import type { BatchFolder } from '../store/batch-folders.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { batchFileOf, sheetOptionsOf, type BatchSpec } from './batch-spec.ts';
import { withOtherSheet } from './copy-sheet.ts';
import { batchIdOf, contentOf } from './batch-id.ts';
import type { LocalFiles } from './files/local-files.ts';
import type { Answers } from './questions.ts';
import { errorsPlaceOf } from './stale-folders.ts';

export type SheetParams = BatchSpec & {
  readonly out: string;
  /** The batch id, if the user gave one. */
  readonly name?: string;
  /** The key of the call that makes it; see `create-once.ts`. */
  readonly madeFor?: string;
  /** The definition of the stage that it is made for. */
  readonly stage?: object;
  /** Whether every problem of a sheet that is refused is listed in a file for its user (default: yes). */
  readonly listsErrors?: boolean | undefined;
  /** The files of this machine that its rows name (default: none). */
  readonly files?: LocalFiles | undefined;
};

export type DraftBatch = Pick<BatchFolder, 'batch' | 'file'> & {
  readonly laidOut: LaidOut;
  readonly content: string;
  /** The folder of the pages, as long as the copy exists. */
  readonly layout: Store;
  readonly canary?: readonly number[];
  /** The GPU servers of the user's own that may run the rows. */
  readonly knownServers?: readonly string[] | undefined;
};

/** `open`: guesses that have to be confirmed. */
export type AgreedSheet = SettledSheet & { readonly open: readonly Guess[] };

export async function agreedSheetOf(
  params: SheetParams & { readonly answers?: Pick<Answers, 'oddRows'> },
): Promise<AgreedSheet> {
  const { copy, deployment } = params;
  const source = sourceIn(openStore(copy.folder), copy);
  const own = sheetOptionsOf(params);
  const options = haveOptionalParts(Object.values(own.set)) ? { ...own, optionalParts: true as const } : own;
  const settled = await settleSheet(source, options, deployment.inputTypes, {
    refusesOddRows: params.answers?.oddRows === 'refuse',
  });
  // A sheet that is refused needs no answer.
  return { ...settled, open: settled.problems.length === 0 ? unconfirmed(settled.guesses) : [] };
}

/** Bounds the second read, so that the refusal of a large sheet is not delayed. */
const MAX_TRIED = 10_000;

/** Lays out the first rows only to see whether the sheet is refused; returns its guesses. No file lists the errors. */
export async function guessesAbout(sheetParams: SheetParams, tried: SheetParams['options']) {
  const options = { ...tried, limit: Math.min(tried.limit ?? MAX_TRIED, MAX_TRIED) };
  const { sheet } = options;
  const isOther =
    sheet !== undefined && sheet !== sheetParams.options.sheet && isWorkbook(sheetParams.copy.format);
  const copy = isOther ? await withOtherSheet(sheetParams.copy, sheet) : sheetParams.copy;
  const params = { ...sheetParams, options, copy };
  const agreed = await agreedSheetOf(params);
  const { laidOut } = await layOutSheet({ ...params, listsErrors: false }, agreed);
  return laidOut.guesses ?? [];
}

export const newMark = (): string => randomBytes(8).toString('hex');

/** Throws the errors of the sheet. */
export async function layOutSheet(params: SheetParams, agreed: AgreedSheet): Promise<DraftBatch> {
  const { copy, deployment, service, out, listsErrors } = params;
  const layout = openStore(copy.folder);
  const { options, guesses, problems, likely, areOddRowsRefused: refusesOddRows = false } = agreed;
  const rows = await layOut({
    source: sourceIn(layout, copy),
    options,
    inputTypes: deployment.inputTypes,
    known: problems,
    likely,
    store: layout,
    order: params.order,
    outputName: params.settings.outputName,
    ownGpu: deployment.gpu,
    errors: await errorsPlaceOf({ out, copy, listsErrors }),
    files: params.files,
    refusesOddRows,
  }).catch((error: unknown) => {
    throw restingOn(error, guesses);
  });
  const ofFiles = params.files?.takeGuesses() ?? [];
  const allGuesses = [
    ...guesses,
    ...ofFiles,
    ...equalRows(rows, options, params.options.keyColumn !== undefined || copy.name === GIVEN_ROWS),
  ];
  const files = params.files?.found;
  const laidOut = {
    ...rows,
    ...(allGuesses.length === 0 ? {} : { guesses: allGuesses }),
    ...(files && { files }),
  };
  const content = contentOf({ rows: laidOut.content, deploymentId: deployment.id, base: service.base });
  const batch = params.name ?? batchIdOf(copy.name, content);
  const { madeFor, stage } = params;
  const call = { ...(madeFor !== undefined && { madeFor }), ...(stage && { stage: { ...stage } }) };
  const identity = { batch, mark: newMark(), content, ...call };
  const file = batchFileOf({ ...params, options, asked: params.options }, laidOut, identity);
  refuseUnbounded(file, file.maxCostNano);
  refuseUntried(file, params.settings.canary);
  return { batch, file, laidOut, content, layout, knownServers: deployment.servers?.map(({ url }) => url) };
}
