import { expect, it } from 'vitest';
import {
  openPipeline,
  type PipelineFolder,
  type StageDefinition,
  stageStates,
} from '../../../src/batches/pipeline/pipeline-folder.ts';
import { givePicks } from '../../../src/library/pipeline/stage-picks.ts';
import { picture } from '../../batches/files/scene.ts';
import { openPoster } from './poster.ts';

it('picks of a stage name files beside them, and others replace them until the stage has a batch', async () => {
  const { place, config, stages, record, work: made } = await openPoster();
  await record(stages({}, undefined, { pick: true, deadlineMs: 28_800_000 }));
  const opened = async () => (await openPipeline(place.out, 'poster')) as PipelineFolder;
  const choose = async (path: string) => givePicks(config, await opened(), 'finals', { path });
  const pick = async (path: string) => (await choose(path)).rows;

  expect(await pick(place.write('chosen/wrong.csv', 'row,photo\n1,none.png\n'))).toBe(1);
  await expect(made()).rejects.toThrow('E210');

  place.write('chosen/fox.png', picture(1));
  const right = place.write('chosen/right.csv', 'row,photo\n1,fox.png\n');
  const same = await choose(right);
  const late = place.write('chosen/late.csv', 'row,photo\n1,https://a.example/cat.png\n');
  const picks = await choose(late);
  expect(await pick(right)).toBe(1);
  const madeAt = Date.now();
  expect(await made()).toMatchObject({ batch: 'poster-finals', rows: 1 });

  // The batch was made of other picks than those of a command that was as fast.
  const [, state] = await stageStates(place.out, await opened());
  const finals = [{ stage: 'finals', batchFolder: state?.batchFolder }];
  expect(() => picks.refuseOther(finals)).toThrow('has its picks already');
  same.refuseOther(finals);
  expect((state?.batchFolder?.file.deadlineAt ?? 0) - madeAt).toBeGreaterThan(28_790_000);

  expect(await pick(right)).toBe(1);
  await expect(pick(late)).rejects.toMatchObject({ code: 'E602' });
});

it('picks that do not meet the condition of their stage are counted, and left out', async () => {
  const { place, config, stages, record } = await openPoster(['owl', 'fox']);
  const [drafts, finals] = stages({}, undefined, { pick: true });
  const where = 'outcome = succeeded and row > 1';
  const { request, ...stage } = finals as StageDefinition;
  const options = { ...request.options, where };
  await record([drafts as StageDefinition, { ...stage, request: { ...request, options } }]);
  const opened = (await openPipeline(place.out, 'poster')) as PipelineFolder;
  const path = place.write('chosen.csv', 'row\n1\n2\n');

  const picks = await givePicks(config, opened, 'finals', { path });
  expect(picks).toMatchObject({ rows: 1, picked: 2, where });
});
