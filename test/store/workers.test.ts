// How many worker processes worked on a batch, in a real folder.

import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createContinued } from '../../src/store/passes.ts';
import { folderStore } from '../../src/store/folder.ts';
import type { Store } from '../../src/store/store.ts';
import { holderHere } from '../../src/store/holder.ts';
import { countWorkers, openWorkerNotes, readWorkerNotes } from '../../src/store/workers.ts';
import { freshFolder } from '../stage/fresh-folder.ts';

const EMBEDDED = holderHere({ kind: 'embedded', home: '/home/ada/.runsheet' });

describe('the workers of a batch', () => {
  let folder = '';
  let store: Store;
  beforeEach(() => {
    folder = freshFolder();
    store = folderStore(folder, 'existing');
  });

  it('are unknown if none has noted itself', async () => {
    expect(await countWorkers(store)).toBeUndefined();
  });

  it('count once, however many of their activities begin at the same moment', async () => {
    const note = openWorkerNotes(EMBEDDED);
    await Promise.all([note(store), note(store), note(store)]);
    await note(store);
    // A batch that was closed and opened again.
    await note(folderStore(folder));
    expect(await countWorkers(store)).toEqual({ workers: 1, restarts: 0 });
  });

  it('are noted when the note resolves, also for an activity that begins later', async () => {
    const note = openWorkerNotes(EMBEDDED);
    void note(store);
    await note(store);
    expect(readdirSync(join(folder, 'workers'))).toHaveLength(1);
  });

  it('are restarts of the one before if only one works at a time', async () => {
    for (let process = 0; process < 4; process += 1) await openWorkerNotes(EMBEDDED)(store);
    expect(await countWorkers(store)).toEqual({ workers: 4, restarts: 3 });
  });

  it('are no restarts if they came with a command that sent rows of the ended batch again', async () => {
    for (let process = 0; process < 3; process += 1) await openWorkerNotes(EMBEDDED)(store);
    await createContinued(store, 1, { workflowId: 'runsheet:a~b', runId: 'second' });
    expect(await countWorkers(store)).toEqual({ workers: 3, restarts: 1 });
  });

  it.each([[['cluster', 'cluster', 'cluster']], [['embedded', 'embedded', 'cluster']]] as const)(
    'are no restarts if several may work at the same time: %j',
    async (kinds) => {
      for (const kind of kinds) await openWorkerNotes(holderHere({ kind }))(store);
      expect(await countWorkers(store)).toEqual({ workers: 3 });
    },
  );

  it('fail no activity if the folder takes no writes, and are noted when it does', async () => {
    writeFileSync(join(folder, 'workers'), 'in the way');
    const note = openWorkerNotes(EMBEDDED);
    await note(store);
    rmSync(join(folder, 'workers'));
    await note(store);
    expect(await countWorkers(store)).toEqual({ workers: 1, restarts: 0 });
  });

  it('name their state folder or cluster, machine and process, the newest first, and skip notes that cannot be read', async () => {
    await store.create('workers/embedded-before.json', '{"at":"2026-11-21T10:00:00.000Z"}');
    await store.create('workers/embedded-broken.json', '{');
    await openWorkerNotes(EMBEDDED)(store);
    expect(await readWorkerNotes(store)).toEqual([
      { at: expect.any(String) as string, holder: EMBEDDED },
      { at: '2026-11-21T10:00:00.000Z' },
    ]);
  });
});
