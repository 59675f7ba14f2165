import { expect, it } from 'vitest';
import type { StageDefinition } from '../../../src/batches/pipeline/pipeline-folder.ts';
import { madeStages } from '../../../src/library/pipeline/started-pipeline.ts';
import { createPass } from '../../../src/store/passes.ts';
import { SUMMARY_FILE } from '../../../src/store/batch-file.ts';
import { summaryOfPass } from '../../results/summary-of-pass.ts';
import { openPoster } from './poster.ts';

async function finalsOf() {
  const { config, ...poster } = await openPoster();
  const madeStagesOf = (stages: readonly StageDefinition[]) =>
    madeStages({ config } as never, { pipeline: 'poster', stages });
  return { ...poster, madeStagesOf };
}

it('a stage that a worker made of the job before it was changed is refused with what differs', async () => {
  const { stages, record, work, madeStagesOf } = await finalsOf();
  const [before, after] = [stages({ prompt: 'a fox' }), stages({ prompt: 'an owl' })];
  await record(before);
  await work();
  const [drafts] = before;
  const changed = [drafts as StageDefinition, ...after.slice(1)];
  await record(changed);
  await expect(madeStagesOf(changed)).rejects.toMatchObject({
    code: 'E566',
    message: expect.stringContaining('set.prompt "a fox" → "an owl"') as string,
  });
  await expect(madeStagesOf(before)).resolves.toMatchObject({ made: { size: 2 } });
});

it('a stage that has ended lets later ones have another deadline, and one that passed waits for another', async () => {
  const { stages, record, madeStagesOf } = await finalsOf();
  const [past, future] = [Date.now() - 1_000, Date.now() + 3_600_000];
  await record(stages({}, past));
  await expect(madeStagesOf(stages({}, past))).resolves.toMatchObject({ made: { size: 1 } });
  await expect(madeStagesOf(stages({}, future))).resolves.toMatchObject({ made: { size: 1 } });
  await expect(madeStagesOf(stages({}, past - 1))).rejects.toMatchObject({
    code: 'E602',
    message: expect.stringContaining('has passed') as string,
  });
});

it('an earlier pipeline of this name makes nothing in its folder', async () => {
  const { stages, record, work, madeStagesOf } = await finalsOf();
  await record(stages({}));
  await expect(work('fedcba9876543210')).rejects.toMatchObject({
    nonRetryable: true,
    message: expect.stringContaining('another pipeline of this name') as string,
  });
  await expect(madeStagesOf(stages({}))).resolves.toMatchObject({ made: { size: 1 } });
});

it('a stage whose source is sent again after it was looked at is made when that has ended', async () => {
  const { drafts, stages, record, work } = await finalsOf();
  await record(stages({}));
  await createPass(drafts.store, 2, { at: new Date().toISOString(), kind: 'retry', segments: [] });
  await expect(work()).rejects.toMatchObject({ type: 'StageWaits', nonRetryable: false });
  await drafts.store.write(SUMMARY_FILE, summaryOfPass(2, 1));
  await expect(work()).resolves.toMatchObject({ rows: 1 });
});
