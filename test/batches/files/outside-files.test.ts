import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { QuestionsOpen } from '../../../src/batches/questions.ts';
import { contentAt, openScene, photosOf, picture } from './scene.ts';

describe('a file outside of the folder of the sheet', () => {
  const OUTSIDE: [string, string, ((place: Scene['place']) => void)?][] = [
    ['by a path with ..', '../secret.png'],
    ['by an absolute path', ''],
    ['by a file: URL', 'file:'],
    ['behind a link', 'link.png'],
    ['in a folder behind a link', 'away/secret.png'],
    ['in a hidden folder', '.keys/secret.png'],
  ];
  type Scene = Awaited<ReturnType<typeof openScene>>;

  const arrange = ({ place }: Scene): string => {
    const secret = place.write('secret.png', picture(1));
    place.write('s/.keys/secret.png', picture(1));
    place.write('s/own.png', picture(2));
    symlinkSync(secret, join(place.folder, 's/link.png'));
    symlinkSync(place.folder, join(place.folder, 's/away'));
    return secret;
  };

  it.each(OUTSIDE)('%s is asked about before it is uploaded, and once', async (_, cell) => {
    const scene = await openScene();
    const { place, make, proposed, uploads } = scene;
    const secret = arrange(scene);
    const written = cell === '' ? secret : cell === 'file:' ? pathToFileURL(secret).href : cell;
    place.write('s/sheet.csv', `photo\nown.png\n${written}\n`);
    const questions = await proposed('s/sheet.csv', {}, async (proposal) => proposal.questions);
    expect(questions).toEqual([
      {
        id: 'outsideFiles',
        sheet: 'sheet.csv',
        files: 1,
        bytes: picture(1).length,
        first: [expect.any(String)],
      },
    ]);
    const [question] = questions;
    expect(question?.id === 'outsideFiles' && question.first[0]).toMatch(/secret\.png$/);
    await expect(make('s/sheet.csv')).rejects.toBeInstanceOf(QuestionsOpen);
    expect(uploads()).toBe(0);
    const more = { answers: { outsideFiles: 'accept' as const } };
    expect((await make('s/sheet.csv', { more })).file.sheet.files?.count).toBe(2);
    // The file has left this machine.
    place.write('s/further.csv', `photo,prompt\n${written},a\n`);
    expect((await make('s/further.csv')).file.sheet.rows).toBe(1);
  });

  it('behind a link that changes after the question is not sent', async () => {
    const scene = await openScene();
    const { place, proposed } = scene;
    const secret = arrange(scene);
    const link = join(place.folder, 's/moving.png');
    symlinkSync(join(place.folder, 's/own.png'), link);
    place.write('s/sheet.csv', 'photo\nmoving.png\n');
    const made = await proposed('s/sheet.csv', {}, (proposal) => {
      rmSync(link);
      symlinkSync(secret, link);
      return proposal.carryOut();
    });
    const [photo = ''] = await photosOf(made);
    expect(await contentAt(photo)).toEqual(picture(2));
  });

  it('that the command itself names is no question, and neither is one beside a sheet that is a link', async () => {
    const scene = await openScene();
    const { place, make } = scene;
    const secret = arrange(scene);
    place.write('s/prompts.csv', 'prompt\na\n');
    const options = { map: {}, set: { photo: secret }, drop: [], types: {} };
    expect((await make('s/prompts.csv', { more: { options } })).file.sheet.files?.count).toBe(1);
    place.write('s/sheet.csv', 'photo\nown.png\n');
    symlinkSync(join(place.folder, 's'), join(place.folder, 'other'));
    expect((await make('other/sheet.csv')).file.sheet.files?.count).toBe(1);
  });
});
