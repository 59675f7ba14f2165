import { expect, it } from 'vitest';
import { freshStage } from '../stage/shared-stage.ts';

const stage = freshStage();

it('a cluster without workers is reported once with the command that helps, and Ctrl-C does not claim that the batch continues', async () => {
  await stage.temporal();
  await stage.service();
  const command = stage.start(['run', stage.sheet(3), '-d', 'portraits', '-y']);
  await command.says(
    /the batch does not advance: no worker takes this batch's tasks; start one: runsheet worker/,
  );
  const { stderr } = await command.kill('SIGINT');
  expect(stderr.match(/does not advance/g)).toHaveLength(1);
  expect(stderr).toMatch(
    /detached; \S+ has not started: no worker takes this batch's tasks\n +start +runsheet worker\n/,
  );
  expect(stderr).not.toContain('continues:');
});
