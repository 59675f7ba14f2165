// A batch of six rows in a folder, its parts, and what a rebuild makes of them.

import { rebuild, type Rebuilt, type RebuildParams } from '../../src/audit/rebuild.ts';
import { restore } from '../../src/batch/state/snapshot.ts';
import type { State } from '../../src/batch/state/state.ts';
import { partName } from '../../src/results/parts.ts';
import type { PartRecord } from '../../src/results/row-record.ts';
import { pageName, rowLine } from '../../src/sheet/pages.ts';
import { layoutOf } from '../../src/store/batch-file.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { BACK, FILE, idOf, listing, NOW, runOf, type Bought } from './lists.ts';

export async function sheetIn(folder: string): Promise<Store> {
  const store = folderStore(folder);
  const lines = Array.from({ length: FILE.sheet.rows }, (_, at) =>
    rowLine(at + 1, `k${at + 1}`, undefined, '{}'),
  );
  await layoutOf(store, FILE).write(pageName(1), lines.join(''));
  return store;
}

export const recordOf = (row: number, more: Partial<PartRecord> = {}): PartRecord => ({
  row,
  outcome: 'succeeded',
  attempts: [{ attempt: 1, outcome: 'succeeded', run_id: idOf(row), gpu_used: 'L4' }],
  files: [],
  ...more,
});

export type WritePart = (pass: number, part: number, ...records: readonly PartRecord[]) => Promise<void>;

export const partWriter =
  (store: Store): WritePart =>
  (pass, part, ...records) =>
    store.write(partName(pass, part), records.map((record) => `${JSON.stringify(record)}\n`).join(''));

type Counts = Omit<Rebuilt, 'snapshot'>;
export type Given = Partial<Omit<RebuildParams, 'store'>>;
export type Rebuild = (bought: readonly Bought[], given?: Given) => Promise<Counts & { state: State }>;

/** Rebuilds the rows as the next workflow run would. */
export const rebuildOf =
  (store: Store): Rebuild =>
  async (bought, overrides = {}) => {
    const service = listing(bought.map((run) => runOf(run)));
    const params = { file: FILE, service, back: BACK, pass: 2, now: NOW, ...overrides };
    const { snapshot, ...counts } = await rebuild({ store, ...params });
    return { ...counts, state: restore(JSON.parse(JSON.stringify(snapshot)) as typeof snapshot) };
  };

export const rowsIn = ({ state }: { readonly state: State }) =>
  [...state.rows.values()].toSorted((a, b) => a.place - b.place);
