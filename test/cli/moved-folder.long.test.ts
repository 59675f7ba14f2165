// A folder with its state folder that its user has moved, copied or restored.

import { cpSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { freshStage } from '../stage/shared-stage.ts';

/** The commands that a refusal prints. */
const printed = (stderr: string): readonly string[] =>
  [...stderr.matchAll(/: (runsheet [^\n;]+)/g)].map(([, command = '']) => command);

describe('a folder that its user has moved', () => {
  const stage = freshStage();

  it('goes on after one command', async () => {
    stage.write('one/sheet.csv', 'prompt\na fox\n');
    const at = (folder: string) => ({
      RUNSHEET_OUT: stage.path(folder, 'batches'),
      XDG_STATE_HOME: stage.path('state'),
    });
    const run = async (folder: string, words: string) => {
      const running = stage.start(words.split(' '), at(folder), undefined, stage.path(folder));
      return running.ended;
    };
    const command = 'run sheet.csv -d portraits --local';
    expect(await run('one', command)).toMatchObject({ code: 0 });
    cpSync(stage.path('one'), stage.path('two'), { recursive: true });
    const refused = await run('two', command);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('E606') });
    const [trusting = ''] = printed(refused.stderr);
    expect(await run('two', trusting.replace('runsheet ', ''))).toMatchObject({ code: 0 });
    expect(await run('two', command)).toMatchObject({ code: 0 });
  });
});
