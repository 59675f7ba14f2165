// Reads a report as its page does.

import { inflateRawSync } from 'node:zlib';
import { rowsFile, type ReportFacts } from '../../../src/results/page/report.ts';
import type { ShownRow } from '../../../src/results/page/report-row.ts';
import type { Store } from '../../../src/store/store.ts';

export type ReadReport = {
  readonly html: string;
  readonly facts: ReportFacts;
  /** The lines of a column of text. */
  texts(name: string): readonly string[];
  /** The numbers of a column. */
  numbers(name: string): readonly number[];
  /** The full cells of the first rows. */
  readonly rows: readonly ShownRow[];
};

export async function readReport(store: Store): Promise<ReadReport> {
  const html = (await store.read('report.html')) ?? '';
  const [, facts = ''] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html) ?? [];
  const columns = new Map(
    [...html.matchAll(/class="column" data-name="([^"]+)" data-bytes="(\d)">([^<]*)</g)].map(
      ([, name = '', bytes, data = '']) => [name, { bytes: Number(bytes), content: inflated(data) }],
    ),
  );
  const [, rows = ''] = /^runsheetRows\(1,"([^"]+)"\)/.exec((await store.read(rowsFile(1))) ?? '') ?? [];
  return {
    html,
    facts: JSON.parse(facts) as ReportFacts,
    texts: (name) => columns.get(name)?.content.toString().split('\n') ?? [],
    numbers: (name) => {
      const { content, bytes } = columns.get(name) ?? { content: Buffer.alloc(0), bytes: 1 };
      return Array.from({ length: content.length / bytes }, (_, at) => content.readUIntLE(at * bytes, bytes));
    },
    rows: JSON.parse(inflated(rows).toString()) as readonly ShownRow[],
  };
}

const inflated = (base64: string): Buffer => inflateRawSync(Buffer.from(base64, 'base64'));
