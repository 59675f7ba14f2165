import { join } from 'node:path';
import { expect, it } from 'vitest';
import { progress } from '../../../src/batch/shown/progress.ts';
import { begin } from '../../../src/batch/state/state.ts';
import { WRITES } from '../../../src/batch/behaviour-version.ts';
import {
  callOfStage,
  openPipeline,
  writePipeline,
  type PipelineFolder,
} from '../../../src/batches/pipeline/pipeline-folder.ts';
import { pipelineStatus } from '../../../src/library/pipeline/pipeline-status.ts';
import type { ServerConnection } from '../../../src/library/servers.ts';
import type { Session } from '../../../src/library/session.ts';
import { holderHere } from '../../../src/store/holder.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { paramsOf } from '../../batch/params.ts';
import { openScene } from '../../batches/files/scene.ts';

it('a stage has finished when its summary is there, not when its workflow says so', async () => {
  const { place, make } = await openScene();
  place.write('drafts.csv', 'photo\nhttps://a.example/owl.png\n');
  const madeFor = callOfStage('poster', 'drafts');
  const { folder } = await make('drafts.csv', { more: { name: 'poster-drafts', madeFor } });
  await writePipeline(openStore(join(place.out, 'poster')), {
    pipeline: 'poster',
    mark: '0123456789abcdef',
    createdAt: new Date().toISOString(),
    stages: [{ name: 'drafts' }],
  } as never);
  const ended = { ...progress(begin(paramsOf({}), WRITES, 0)), state: 'finished' };
  const session = {
    isWorking: () => true,
    pipelines: { status: async () => 'RUNNING' },
    batches: {
      find: async () => ({ status: 'COMPLETED', folder }),
      status: async () => ({ progress: ended, isUnattended: false }),
    },
  } as unknown as Session;
  const connection = {
    session,
    here: { holder: holderHere({ kind: 'embedded', home: '/nowhere' }) },
  } as ServerConnection;
  const opened = (await openPipeline(place.out, 'poster')) as PipelineFolder;
  expect(await pipelineStatus(place.out, opened, connection)).toMatchObject([{ state: 'running' }]);
});
