// Takes the rows that the user picks for a stage: checks them against the source batch, and stores them in
// the folder of the pipeline, where its workflow looks for them.

import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { withIncoming, preparingIn } from '../../batches/incoming-folder.ts';
import { type FromSheet, readFromSheet } from '../../batches/from/from-sheet.ts';
import {
  pickedInOf,
  picksOf,
  type PipelineFolder,
  stageStates,
} from '../../batches/pipeline/pipeline-folder.ts';
import { hintAmong, problem } from '../../errors/error.ts';
import type { RowRange } from '../../options/batch-kinds.ts';
import type { BatchFolder } from '../../store/batch-folders.ts';
import type { Config } from '../../host/settings/config.ts';

type PickedRows = {
  readonly path?: string | undefined;
  readonly keys?: readonly string[] | undefined;
  readonly rows?: readonly RowRange[] | undefined;
};

export type GivenPicks = Pick<FromSheet, 'picked' | 'where'> & {
  readonly rows: number;
  /** Throws E602 if the stage already has a batch of other rows. */
  readonly refuseOther: (
    stages: readonly { readonly stage: string; readonly batchFolder?: BatchFolder | undefined }[],
  ) => void;
};

/**
 * Checks and stores the picks. Throws E551 to E556 for picks that the batch does not have, and E602 for a
 * stage that takes none or already has a batch.
 */
export async function givePicks(
  config: Config,
  opened: PipelineFolder,
  name: string,
  { path, keys, rows }: PickedRows,
): Promise<GivenPicks> {
  if ([path, keys, rows].filter((source) => source !== undefined).length !== 1)
    throw problem('E602', {
      what: 'pick needs one of --picks, --key and --row',
      hint: 'for example --row 3,7; the page of a batch saves a file for --picks',
    });
  const states = await stageStates(config.out, opened);
  const state = states.find(({ stage }) => stage.name === name);
  const source = states.find(({ stage }) => stage.name === state?.stage.from);
  const { pipeline } = opened.file;
  if (state === undefined || !state.stage.pick)
    throw noPicks(
      pipeline,
      name,
      states.map(({ stage }) => stage),
    );
  if (source?.batchFolder === undefined) throw problem('E551', { batch: source?.batch ?? pipeline });
  const { batchFolder } = source;
  return withIncoming(preparingIn(config), async (folder) => {
    const file = join(folder, path === undefined ? 'picks.csv' : basename(path));
    await writeFile(file, path === undefined ? listed(batchFolder, { keys, rows }) : await readFile(path));
    const request = { ...preparingIn(config), batchFolder, each: state.stage.each };
    const { where, ...options } = state.stage.request.options;
    const {
      written,
      picked,
      where: condition,
      from,
    } = await readFromSheet(
      { ...request, options, picks: { path: file }, ...(where !== undefined && { where }) },
      folder,
    );
    const text = await readFile(file);
    await rm(file);
    const refuseOther: GivenPicks['refuseOther'] = (stages) => {
      const made = stages.find((candidate) => candidate.stage === name)?.batchFolder;
      if (made !== undefined && made.file.from?.request !== from.request)
        throw problem('E602', {
          what: `stage ${name} of ${pipeline} has its picks already, and a batch of them`,
        });
    };
    refuseOther([{ stage: name, batchFolder: state.batchFolder }]);
    if (state.batchFolder === undefined) {
      const { store } = opened;
      // The picks are written last, because a worker acts on them at once.
      if (path !== undefined) await store.write(pickedInOf(name), dirname(resolve(path)));
      await store.write(picksOf(name), text);
    }
    return { rows: written, picked, where: condition, refuseOther };
  });
}

/** A picks file that names these rows. */
function listed({ file }: BatchFolder, { keys, rows = [] }: PickedRows): string {
  if (keys !== undefined) return stringify([['key'], ...keys.map((key) => [key])]);
  // A number one past the end stands for an open range.
  const most = file.sheet.rows + 1;
  const numbers = rows.flatMap(({ from, to }) =>
    Array.from({ length: Math.max(1, Math.min(to, most) - from + 1) }, (_, at) => from + at),
  );
  return stringify([['row'], ...numbers.map((row) => [String(row)])]);
}

function noPicks(
  pipeline: string,
  name: string,
  stages: readonly { readonly name: string; readonly pick: boolean }[],
) {
  const names = stages.filter(({ pick }) => pick).map((stage) => stage.name);
  return problem('E602', {
    what: `pipeline ${pipeline} has no stage ${name} that takes picks`,
    hint:
      names.length === 0 ? 'such a stage has pick = true in the job file' : hintAmong(name, 'stages', names),
  });
}
