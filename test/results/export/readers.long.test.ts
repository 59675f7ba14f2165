// Exports read by the programs that people use: openpyxl and pandas. They come from pip.

import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { pythonWith } from '../../stage/python.ts';
import { CELLS, scene } from './scene.ts';

const python = pythonWith('readers', { openpyxl: 'openpyxl', pandas: 'pandas', PIL: 'pillow' });
const { missing } = python;
const read = (script: string, file: URL): Promise<unknown> => python.read(script, fileURLToPath(file));

/** Excel's limit. */
const CUT = CELLS.map((cell) => cell.slice(0, 32_767));

describe.skipIf(missing !== undefined)(
  `exports are read by other programs (missing: ${missing ?? 'nothing'})`,
  () => {
    it('a workbook by openpyxl: every cell as text, links, a frozen header, pictures', async () => {
      using batch = await scene();
      const { file } = await batch.write();
      const script = `
import json, sys, openpyxl
book = openpyxl.load_workbook(sys.argv[1])
sheet = book["Results"]
cells = [row[1] for row in sheet.iter_rows(min_row=2)]
print(json.dumps({
  "sheets": book.sheetnames, "frozen": sheet.freeze_panes, "pictures": len(sheet._images),
  "values": [cell.value for cell in cells], "types": sorted({cell.data_type for cell in cells}),
  "link": sheet["Q2"].hyperlink.target, "seconds": sheet["M2"].value,
}))`;
      const { values, types, ...facts } = (await read(script, file)) as Record<string, unknown> & {
        readonly values: readonly (string | null)[];
        readonly types: readonly string[];
      };
      expect(facts).toEqual({
        sheets: ['Results', 'Summary', 'Files'],
        frozen: 'A2',
        pictures: CELLS.length - 1,
        link: 'outputs/SKU%201.png',
        seconds: 3,
      });
      // The reader leaves Excel's escapes in place, and shows an absent cell as a number.
      const shown = values.map((value) =>
        (value ?? '').replaceAll('_x000D_', '\r').replaceAll('_x005F_', '_'),
      );
      expect(shown).toEqual(CUT);
      expect(types).toEqual(['n', 's']);
    });

    it('a workbook and its CSV by pandas: the same cells', async () => {
      using batch = await scene();
      const pandas = (how: string): string =>
        `import json, sys, pandas\nprint(json.dumps(pandas.${how}(sys.argv[1], dtype=str, keep_default_na=False)["note"].tolist()))`;
      const workbook = (await read(pandas('read_excel'), (await batch.write()).file)) as readonly string[];
      expect(workbook.map((cell) => cell.replaceAll('_x000D_', '\r').replaceAll('_x005F_', '_'))).toEqual(
        CUT,
      );
      const { file } = await batch.write({ as: 'csv' });
      expect(await read(pandas('read_csv'), file)).toEqual(CELLS);
    });
  },
);
