import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sharedStage } from '../stage/shared-stage.ts';

describe('a bad sheet', () => {
  const stage = sharedStage((one) => one.service());

  it.each([
    [
      'that cannot be read',
      'a,1\nb,2,3\n',
      'E103',
      'bad.csv:3:3',
      /this row has 3 fields, and the header has 2/,
    ],
    ['with a wrong cell', 'a,1\nb,many\n', 'E202', 'bad.csv:3:2', /"many" in column "seed" is not/],
  ])(
    '%s: the error has its code and its place, and the exit code is 5',
    async (_, rows, code, place, says) => {
      stage.write('bad.csv', `prompt,seed\n${rows}`);
      const ended = await stage.run(['run', 'bad.csv', '-d', 'portraits']);
      expect(ended).toMatchObject({ code: 5, stdout: '', stderr: expect.stringMatching(says) });
      expect(ended.stderr).toContain(`error[${code}]`);
      expect(ended.stderr).toContain(place);
      expect(ended.stderr).not.toMatch(/\n\s+at /);
    },
  );

  it('is reported with the same error as JSON', async () => {
    stage.write('word.csv', 'prompt,seed\na,1\nb,many\n');
    const ended = await stage.run(['run', 'word.csv', '-d', 'portraits', '-o', 'json']);
    expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code: 'E200' } });
    expect(ended.code).toBe(5);
  });

  it('shows ten problems, and lists all of them in a file beside the batches', async () => {
    const rows = Array.from({ length: 40 }, (_, at) => `portrait,${at % 2 === 0 ? at : `x${at}`}`);
    stage.write('many.csv', `prompt,seed\n${rows.join('\n')}\n`);
    const ended = await stage.run(['run', 'many.csv', '-d', 'portraits']);
    expect(ended.stderr.match(/error\[E202\]/g)).toHaveLength(10);
    const [, file = ''] = /listed in (\S+)/.exec(ended.stderr) ?? [];
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(21);
  });

  it('starts no run and leaves no batch', async () => {
    expect(await stage.truth()).toEqual([]);
    const left = existsSync(stage.path('batches')) ? readdirSync(stage.path('batches')) : [];
    expect(
      left.filter((name) => !name.startsWith('.') && existsSync(stage.path('batches', name, 'batch.json'))),
    ).toEqual([]);
  });
});
