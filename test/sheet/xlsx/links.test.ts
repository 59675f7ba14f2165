import { describe, expect, it } from 'vitest';
import { SheetRefused } from '../../../src/sheet/sheet-refused.ts';
import { input } from '../laying.ts';
import { layBook, textRow, workbook, type Parts } from './workbooks.ts';

const REL = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const FOX = 'https://a.example/fox.png';
const inputTypes = [input('prompt', 'string'), input('photo', 'image')];

const relations = (...relationships: readonly string[]): string =>
  `<Relationships>${relationships.join('')}</Relationships>`;

async function rowsOf(parts: Parts): Promise<readonly unknown[]> {
  const { found: rows } = await layBook(await workbook(parts), { inputTypes });
  return rows.map(({ inputs }) => inputs);
}

describe('a workbook', () => {
  it('gives a file input the target of a hyperlink, and other inputs the text', async () => {
    const link = (ref: string, id: string) => `<hyperlink ref="${ref}" r:id="${id}"/>`;
    const values = await rowsOf({
      rows: textRow('prompt', 'photo') + textRow('a fox', 'photo'),
      behind: `<hyperlinks xmlns:r="${REL}">${link('A2', 'h1')}${link('B2', 'h1')}</hyperlinks>`,
      more: {
        'xl/worksheets/_rels/sheet1.xml.rels': relations(
          `<Relationship Id="h1" Type="${REL}/hyperlink" Target="${FOX}" TargetMode="External"/>`,
        ),
      },
    });
    expect(values).toEqual([{ prompt: 'a fox', photo: FOX }]);
  });

  it('gives a file input the address of =IMAGE(…) and =HYPERLINK(…), calculated or not', async () => {
    const cell = (formula: string, value: string) =>
      `<row><c t="str"><v>a</v></c><c t="e"><f>${formula}</f>${value}</c></row>`;
    const values = await rowsOf({
      rows:
        textRow('prompt', 'photo') +
        cell(`_xlfn.IMAGE("${FOX}")`, '<v>#VALUE!</v>') +
        cell(`IMAGE("${FOX}")`, '') +
        cell(`HYPERLINK("${FOX}","photo")`, '<v>photo</v>'),
    });
    expect(values).toEqual(Array.from({ length: 3 }, () => ({ prompt: 'a', photo: FOX })));
  });

  it.each<[string, Parts & { readonly rows: string }]>([
    ['in a cell', { rows: '<row><c t="str"><v>a</v></c><c t="e" vm="1"><v>#VALUE!</v></c></row>' }],
    [
      'on a cell',
      {
        rows: textRow('a', ''),
        behind: `<drawing xmlns:r="${REL}" r:id="d1"/>`,
        more: {
          'xl/worksheets/_rels/sheet1.xml.rels': relations(
            `<Relationship Id="d1" Type="${REL}/drawing" Target="../drawings/drawing1.xml"/>`,
          ),
          'xl/drawings/drawing1.xml':
            '<xdr:wsDr xmlns:xdr="x"><xdr:twoCellAnchor><xdr:from><xdr:col>1</xdr:col><xdr:colOff>9</xdr:colOff><xdr:row>1</xdr:row><xdr:rowOff>9</xdr:rowOff></xdr:from><xdr:to><xdr:col>5</xdr:col><xdr:row>5</xdr:row></xdr:to><xdr:pic/></xdr:twoCellAnchor></xdr:wsDr>',
        },
      },
    ],
  ])('with a picture %s of a file input is refused, and the cell is named', async (_, parts) => {
    const laying = rowsOf({ ...parts, rows: textRow('prompt', 'photo') + parts.rows });
    const refused = await laying.then(undefined, (error: unknown) => error as SheetRefused);
    expect(refused).toBeInstanceOf(SheetRefused);
    expect((refused as SheetRefused).problems).toMatchObject([
      {
        code: 'E207',
        place: { cell: 'B2' },
        message: expect.stringContaining('a picture in the workbook') as string,
      },
    ]);
  });
});
