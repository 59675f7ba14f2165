// An export as an Excel workbook: the results with links to their files, a summary, and all files.

import { havePrices, knownCost } from '../../options/facts/prices.ts';
import type { FileRecord } from '../row-record.ts';
import { RESULT_COLUMNS } from '../../sheet/result-columns.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { resultValues, type ExportRow, type ExportSource } from './export-rows.ts';
import type { Sink } from './sink.ts';
import { isPicture, openDecoder, THUMBNAIL_BYTES, thumbnails, type Decode } from '../thumbnails.ts';
import { WorkbookWriter, type PlacedPicture, type SheetLimits } from './xlsx/workbook.ts';
import { EXCEL, type SheetLine } from './xlsx/written-worksheet.ts';
import { CELL_CHARACTERS } from './xlsx/package-xml.ts';
import { addRecord, unpricedCount } from '../tally-rows.ts';
import { costSoFar, NO_TALLY } from '../../batch/accounting/tally.ts';
import { rounded } from '../../options/text/printed-numbers.ts';

const THUMBNAILS = 2_000;
/** Longest side of a thumbnail, in pixels. */
const THUMBNAIL_SIDE = 96;
/** Height of a row with a thumbnail, in points. */
const TALL = (THUMBNAIL_SIDE + 4) * 0.75;
const OUTPUTS_AT = RESULT_COLUMNS.indexOf('outputs');

/** How the workbook links to an output file, and for how many days the link works. */
type Links = {
  readonly linkTo: (path: string) => string | Promise<string>;
  readonly linksDays: number | undefined;
};
type LinkTo = Links['linkTo'];

/** Returns what the workbook does not show. */
export async function writeXlsx(
  source: ExportSource,
  sink: Sink,
  { linkTo, linksDays }: Links,
): Promise<readonly string[]> {
  const decode = await openDecoder({ side: THUMBNAIL_SIDE, format: 'jpeg' });
  const results = new ResultLines(source, linkTo, decode !== undefined);
  const workbook = new WorkbookWriter(sink);
  const shown = await workbook.addSheet({
    name: 'Results',
    header: [...source.own, ...source.results],
    lines: results.lines(),
    pictures: decode && (() => results.pictures(decode)),
  });
  await workbook.addSheet({ name: 'Summary', header: ['fact', 'value'], lines: results.summary() });
  const files =
    results.files > 0
      ? await workbook.addSheet({ name: 'Files', header: FILE_COLUMNS, lines: fileLines(source, linkTo) })
      : undefined;
  await workbook.end();
  const hasNone = decode === undefined && results.wanted > 0;
  return [
    ...limitsText(shown, 'Results'),
    ...(files === undefined ? [] : limitsText(files, 'Files')),
    ...(files === undefined || linksDays === undefined
      ? []
      : [`the links to its files work for ${linksDays} days, for everyone who has the workbook`]),
    ...(hasNone ? ['no thumbnails: the optional package sharp is not installed'] : []),
    ...(results.wanted > THUMBNAILS ? [`thumbnails: only the first ${THUMBNAILS} pictures`] : []),
  ];
}

const limitsText = ({ cutCells, linksLeft }: SheetLimits, sheet: string): readonly string[] => [
  ...(cutCells > 0
    ? [
        `${sheet}: ${cutCells} cells cut to ${CELL_CHARACTERS} characters, the most that Excel allows; --as jsonl has all`,
      ]
    : []),
  ...(linksLeft > 0
    ? [`${sheet}: ${linksLeft} files without a link, because Excel allows ${EXCEL.links} links in a sheet`]
    : []),
];

type WantedPicture = { readonly path: string; readonly row: number; readonly text: string };

/** The lines of the results, and the facts that are known once they are written. */
class ResultLines {
  files = 0;
  /** Pictures that could have a thumbnail. */
  wanted = 0;
  readonly #source: ExportSource;
  readonly #linkTo: LinkTo;
  readonly #hasThumbnails: boolean;
  readonly #chosen: WantedPicture[] = [];
  #rows = 0;
  #tally = NO_TALLY;
  #unpriced = 0;

  constructor(source: ExportSource, linkTo: LinkTo, hasThumbnails: boolean) {
    this.#source = source;
    this.#linkTo = linkTo;
    this.#hasThumbnails = hasThumbnails;
  }

  async *lines(): AsyncGenerator<SheetLine> {
    for await (const row of this.#source.read()) yield this.#line(row);
  }

  async *pictures(decode: Decode): AsyncGenerator<PlacedPicture> {
    const column = this.#source.own.length + this.#source.results.length;
    const { store } = this.#source;
    for await (const { row, text, bytes, width, height } of thumbnails(
      this.#chosen,
      (path) => store.open(path),
      decode,
    ))
      yield { column, row, text, jpeg: bytes, width, height };
  }

  async *summary(): AsyncGenerator<SheetLine> {
    const { file, hasEnded } = this.#source;
    const { outcomes } = this.#tally;
    const counts = Object.entries(outcomes).filter(([, rows]) => rows > 0);
    const open = this.#rows - counts.reduce((sum, [, rows]) => sum + rows, 0);
    const gpus = Object.entries(this.#tally.gpus);
    const cost = knownCost(rounded(costSoFar(this.#tally)), this.#unpriced);
    const isPriced = havePrices(file.service.prices) && cost !== null;
    const facts: readonly (readonly [string, string | number])[] = [
      ['batch', file.batch],
      ['sheet', file.sheet.name],
      ['deployment', file.deployment.name ?? file.deployment.id],
      ['created', file.createdAt],
      ['exported', new Date().toISOString()],
      ['state', hasEnded ? 'ended' : 'the batch had not ended'],
      ['rows', this.#rows],
      ...counts,
      ...(open > 0 ? [['open', open] as const] : []),
      ['files', this.files],
      ['runs', gpus.reduce((sum, [, { runs }]) => sum + runs, 0)],
      ['GPU seconds', rounded(gpus.reduce((sum, [, { seconds }]) => sum + seconds, 0))],
      ...(isPriced ? [['cost in US dollars, estimated', cost] as const] : []),
      ...gpus.flatMap(([gpu, { runs, seconds, costUsd }]): [string, number][] => [
        [`${gpu}: runs`, runs],
        [`${gpu}: seconds`, rounded(seconds)],
        ...(isPriced ? [[`${gpu}: US dollars`, rounded(costUsd)] as [string, number]] : []),
      ]),
    ];
    for (const cells of facts) yield { cells };
  }

  #line({ record, cells }: ExportRow): SheetLine {
    const { outcome, attempts, files } = record;
    this.#rows += 1;
    this.files += files.length;
    if (outcome !== 'open') this.#tally = addRecord(this.#tally, { outcome, attempts });
    this.#unpriced += unpricedCount(attempts);
    const own = this.#source.own.map((_, at) => cells[at]);
    const values = resultValues(record).map((value) =>
      typeof value === 'string' ? terminalLine(value) : value,
    );
    return {
      cells: [...own, ...values],
      link: linkAt(own.length + OUTPUTS_AT, files[0]?.path, this.#linkTo),
      height: this.#choose(files, record.key) ? TALL : undefined,
    };
  }

  #choose(files: readonly FileRecord[], key: string): boolean {
    const picture = files.find(({ path, bytes }) => isPicture(path) && bytes <= THUMBNAIL_BYTES);
    if (picture === undefined) return false;
    this.wanted += 1;
    if (!this.#hasThumbnails || this.#chosen.length === THUMBNAILS) return false;
    this.#chosen.push({ path: picture.path, row: this.#rows, text: key });
    return true;
  }
}

const FILE_COLUMNS = ['row', 'key', 'file', 'node', 'bytes', 'sha256', 'name'];
const FILE_AT = FILE_COLUMNS.indexOf('file');

async function* fileLines(source: ExportSource, linkTo: LinkTo): AsyncGenerator<SheetLine> {
  for await (const { record } of source.read())
    for (const { path, node = '', bytes, sha256, name } of record.files)
      yield {
        cells: [record.row, record.key, path, terminalLine(node), bytes, sha256, terminalLine(name)],
        link: linkAt(FILE_AT, path, linkTo),
      };
}

const linkAt = (at: number, path: string | undefined, linkTo: LinkTo): SheetLine['link'] =>
  path === undefined ? undefined : { at, to: () => linkTo(path) };
