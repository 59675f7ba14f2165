// Sheets that name pictures without their folder, as a photographer, a shop or a camera lists them.

import { describe, expect, it } from 'vitest';
import { deploymentSpecSchema } from '../../../src/run-service/service-deployments.ts';
import { SheetRefused } from '../../../src/sheet/sheet-refused.ts';
import { openScene, photosOf, picture } from './scene.ts';

const OPTIONAL = deploymentSpecSchema.parse({
  name: 'finals',
  inputTypes: [
    { name: 'photo', type: 'image' },
    { name: 'prompt', type: 'string' },
  ],
});

type Scene = Awaited<ReturnType<typeof openScene>>;

const optionsOf = (flags: readonly (readonly [flag: string, value?: string])[]) => {
  const values = (flag: string): readonly string[] =>
    flags.flatMap(([name, value = '']) => (name === flag ? [value] : []));
  const [set = ''] = values('--set');
  const at = set.indexOf('=');
  return { map: {}, set: { [set.slice(0, at)]: set.slice(at + 1) }, drop: [...values('--drop')], types: {} };
};

async function refusedBy({ make }: Scene, column: string): Promise<SheetRefused> {
  const map = column === 'photo' ? {} : { photo: column };
  const made = make('sheet.csv', { more: { options: { map, set: {}, drop: [], types: {} } } });
  const error = await made.then(undefined, (refusal: unknown) => refusal);
  if (!(error instanceof SheetRefused)) throw error;
  return error;
}

function write({ place }: Scene, files: readonly string[], column: string, cells: readonly string[]): void {
  for (const [at, file] of files.entries()) place.write(file, picture(at + 1));
  place.write(
    'sheet.csv',
    `"${column}",prompt\n${cells.map((cell, at) => `${cell},text ${at}`).join('\n')}\n`,
  );
}

describe('pictures that lie in one other place', () => {
  it.each([
    [['fotos/a.png', 'fotos/b.png'], 'Foto', ['a.png', 'b.png'], 'photo=fotos/{Foto}'],
    [['fotos/a.png', 'fotos/b.png'], 'photo', ['a.png', 'b.png'], 'photo=fotos/{photo}'],
    [['web/2024/a.png', 'web/2024/b.png'], 'File', ['2024/a.png', '2024/b.png'], 'photo=web/{File}'],
    [['a/b/1.png', 'a/b/2.png'], 'Datei (neu)', ['1.png', '2.png'], 'photo=a/b/{Datei (neu)}'],
    [
      ['my photos/1.png', 'my photos/2.png'],
      'Bild Nr. 1',
      ['1.png', '2.png'],
      'photo=my photos/{Bild Nr. 1}',
    ],
    [['fotos/a.png', 'fotos/b.png'], 'Foto', ['a.png', '', 'b.png'], 'photo=[fotos/{Foto}]'],
    [['a.png', 'b.png'], 'Foto', ['a', 'b'], 'photo={Foto}.png'],
    [['fotos/1.png', 'fotos/2.png'], 'Nr', ['1', '2'], 'photo=fotos/{Nr}.png'],
    [['[raw]/a.png', '[raw]/b.png'], 'Foto', ['a.png', 'b.png'], 'photo=[raw]/{Foto}'],
  ])('%j of the column %j with %j are found by %j', async (files, column, cells, set) => {
    const scene = await openScene({ deployments: [OPTIONAL] });
    write(scene, files, column, cells);
    const { problems } = await refusedBy(scene, column);
    expect(problems).toHaveLength(1);
    const [{ correction } = { correction: undefined }] = problems;
    const add = correction !== undefined && 'add' in correction ? correction.add : [];
    expect(add).toContainEqual(['--set', set]);
    const photos = await photosOf(await scene.make('sheet.csv', { more: { options: optionsOf(add) } }));
    expect(photos.filter((photo) => photo.includes('#sha256='))).toHaveLength(2);
  });

  it('are one problem, also if a further one is missing', async () => {
    const scene = await openScene({ deployments: [OPTIONAL] });
    write(scene, ['fotos/a.png', 'fotos/b.png'], 'Foto', ['a.png', 'gone.png', 'b.png']);
    const { problems, total } = await refusedBy(scene, 'Foto');
    expect([total, problems.map(({ message, hint }) => [message, hint])]).toEqual([
      1,
      [
        [
          '2 cells of column "Foto" lack the folder fotos/ of their files',
          "to find them: --set 'photo=fotos/{Foto}'",
        ],
      ],
    ]);
  });
});

describe('pictures that no single template finds', () => {
  it.each([
    [['one/a.png', 'two/b.png'], 'Foto', ['a.png', 'b.png']],
    [['fotos/a.png', 'b.png'], 'Foto', ['a.png', 'b.png']],
    [['fotos/a.png'], 'Foto', ['a.png', 'https://a.example/b.png']],
    [['fotos/a.png', 'fotos/b.png'], 'Foto {neu}', ['a.png', 'b.png']],
    [['fotos/a.png', 'fotos/b.png'], 'Foto [neu]', ['a.png', '', 'b.png']],
    [['fotos/{x}/a.png'], 'x', ['a.png']],
    [['fotos/a.jpg', 'fotos/b.jpg'], 'Foto', ['A.png', 'B.png']],
  ])('such as %j with %j, are named one by one', async (files, column, cells) => {
    const scene = await openScene({ deployments: [OPTIONAL] });
    write(scene, files, column, cells);
    const { problems } = await refusedBy(scene, column);
    expect(problems.map(({ correction }) => correction)).toEqual(problems.map(() => undefined));
    expect(problems[0]?.message).toContain('is neither an address nor a file');
  });
});
