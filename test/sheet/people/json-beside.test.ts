// Members of a JSON document beside its list of rows.

import { describe, expect, it } from 'vitest';
import { input } from '../laying.ts';
import { read } from './reading.ts';

const json = { format: 'json' } as const;
const INPUTS = [
  input('prompt', 'string', { required: true }),
  input('seed', 'seed'),
  input('fps', 'int'),
  input('cfg', 'float'),
  input('aspect_ratio', 'string', { options: ['16:9', '1:1'] }),
];
const SHOTS = '[{"prompt":"a"},{"prompt":"b","fps":30}]';
const PLAIN = '[{"prompt":"a"},{"prompt":"b"}]';

const readDocument = (text: string, options = {}, inputTypes = INPUTS) =>
  read('a.json', text, { ...json, ...options }, { inputTypes });

const questionsIn = (guesses: readonly string[]): readonly string[] =>
  guesses.filter((guess) => guess.startsWith('? '));

describe('members beside the list of rows', () => {
  it.each([
    ['plain ones', `{"title":"x","fps":24,"count":2,"shots":${PLAIN}}`, 'fps "24"'],
    ['in an object', `{"defaults":{"fps":24,"name":"x"},"shots":${PLAIN}}`, 'defaults.fps "24"'],
    ['behind the list', `{"shots":${PLAIN},"settings":{"fps":24}}`, 'settings.fps "24"'],
    ['two levels deep', `{"version":2,"data":{"fps":24,"items":${PLAIN}}}`, 'data.fps "24"'],
    ['above a list two levels deep', `{"fps":24,"data":{"items":${PLAIN},"next":null}}`, 'fps "24"'],
    ['beside a list of texts', `{"config":{"FPS":"24"},"prompts":["a","b"]}`, 'config.FPS "24"'],
    ['by another name', `{"frame_rate":24,"shots":${PLAIN}}`, 'frame_rate "24"'],
  ])('are asked about and sent with each row: %s', async (_, text, member) => {
    const sent = ['{"fps":24,"prompt":"a"}', '{"fps":24,"prompt":"b"}'];
    const { rows, guesses } = await readDocument(text);
    expect(rows).toEqual(sent);
    expect(questionsIn(guesses)).toEqual([
      `? ${member} beside the list of rows is sent with each row; to leave it out: --set fps= (--set fps=24)`,
    ]);
    const accepted = await readDocument(text, { set: { fps: '24' } });
    expect([accepted.rows, questionsIn(accepted.guesses)]).toEqual([sent, []]);
    const without = await readDocument(text, { set: { fps: '' } });
    expect([without.rows, questionsIn(without.guesses)]).toEqual([['{"prompt":"a"}', '{"prompt":"b"}'], []]);
  });

  it('keep the digits of a seed and the braces of a text', async () => {
    const text = `{"seed":18446744073709551615,"prompt":"a {red} fox","shots":[{"fps":24},{"fps":25}]}`;
    const { rows } = await readDocument(text);
    expect(rows[0]).toBe('{"fps":24,"prompt":"a {red} fox","seed":18446744073709551615}');
  });

  it('of one name are choices, and the nearest is proposed', async () => {
    const text = `{"fps":24,"social":{"fps":30},"data":{"fps":25,"items":${PLAIN}}}`;
    const { rows, guesses } = await readDocument(text);
    expect(rows[0]).toBe('{"fps":25,"prompt":"a"}');
    expect(questionsIn(guesses)).toEqual([
      '? data.fps "25" beside the list of rows is sent with each row; to send another one: --set fps=24, or --set fps=30; to leave it out: --set fps= (--set fps=25)',
    ]);
  });

  it('with a size are a width and a height', async () => {
    const inputTypes = [...INPUTS, input('width', 'int'), input('height', 'int')];
    const { rows, guesses } = await readDocument(`{"size":"1024x768","shots":${PLAIN}}`, {}, inputTypes);
    expect(rows[0]).toBe('{"height":768,"prompt":"a","width":1024}');
    expect(questionsIn(guesses)).toEqual([
      '? size "1024x768" beside the list of rows is sent with each row; to leave it out: --set width= --set height= (--set width=1024 --set height=768)',
    ]);
  });

  it('give way to those of a row, and rows without any are shown', async () => {
    const { rows, guesses } = await readDocument(`{"fps":24,"shots":${SHOTS}}`);
    expect(rows).toEqual(['{"prompt":"a"}', '{"fps":30,"prompt":"b"}']);
    expect(guesses).toContain(
      'fps "24" beside the list of rows is not sent, also for rows without their own "fps"',
    );
    const text = `{"fps":24,"shots":${SHOTS.replace('"a"', '"a","fps":24')}}`;
    expect((await readDocument(text)).guesses.join()).not.toContain('fps "24"');
  });

  it('that the input does not take are shown, and others are not', async () => {
    const text = `{"aspect_ratio":"5:4","title":"x","seed":null,"fps":"","count":2,"shots":${PLAIN}}`;
    const { rows, guesses } = await readDocument(text);
    expect(rows[0]).toBe('{"prompt":"a"}');
    expect(guesses).toEqual([
      'the rows are in the list shots (--records shots)',
      'aspect_ratio "5:4" beside the list of rows is not sent: the input aspect_ratio does not take it',
    ]);
  });
});
