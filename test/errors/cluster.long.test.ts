// Every error that needs Temporal, its worker or a running batch is provoked, and each command that it prints is pasted into
// bash: it works or leads one step further.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { APPLICATIONS } from './cases/applications.ts';
import { CLUSTERS } from './cases/clusters.ts';
import { AGAIN } from './cases/again.ts';
import { GONE } from './cases/gone.ts';
import { RUNNING } from './cases/running.ts';
import { LongGround } from './long-ground.ts';
import { Recorded, recordOf } from '../printed/recorded.ts';
import { differences } from './provocation.ts';

const recorded = new Recorded();

describe('what is printed with', () => {
  const ground = new LongGround();
  beforeAll(() => ground.openCluster());
  afterEach(() => ground.killStarted());
  afterAll(() => ground.close());

  it.each(
    [...RUNNING, ...GONE, ...AGAIN, ...CLUSTERS, ...APPLICATIONS].map(
      (row) => [`${row.code}, because ${row.name},`, row] as const,
    ),
  )('%s leads on', async (_, row) => {
    expect(await differences(row, { ...ground.run(), recorded })).toBe('');
  });

  it('is pasted line by line as before', async () => {
    await expect(recorded.text).toMatchFileSnapshot(recordOf('errors-cluster'));
  });
});
