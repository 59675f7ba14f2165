// An export as an Excel workbook: the results with links to their files, a summary, and all files.

import { havePrices } from '../../options/gpu.ts';
import { type FileRecord, gpuSecondsOf } from '../row-record.ts';
import { RESULT_COLUMNS } from '../../sheet/header.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { resultValues, type ExportRow, type ExportSource, type Sink } from './export-rows.ts';
import { isPicture, openDecoder, THUMBNAIL_BYTES, thumbnails, type Decode } from '../thumbnails.ts';
import {
  WorkbookWriter,
  type PlacedPicture,
  type SheetLimits,
  EXCEL,
  type SheetLine,
  type SheetCapacity,
  CELL_CHARACTERS,
} from './xlsx/workbook.ts';
import type { ShownRow } from '../batch-rows.ts';

const THUMBNAILS = 2_000;
/** Their longest side, in pixels. */
const THUMBNAIL_SIDE = 96;
/** Points that a row with a thumbnail is high. */
const TALL = (THUMBNAIL_SIDE + 4) * 0.75;
const OUTPUTS_AT = RESULT_COLUMNS.indexOf('outputs');

/** The address of an output file as the workbook links to it, and for how many days it works. */
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
  const { tally } = results;
  await workbook.addSheet({ name: 'Summary', header: ['fact', 'value'], lines: tally.lines(source) });
  const files = tally.files > 0 ? await addFiles(workbook, source, linkTo) : undefined;
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

type Wanted = { readonly path: string; readonly row: number; readonly text: string };

/** The lines of the results, and what is known after they were written. */
class ResultLines {
  readonly tally = new ExportTally();
  /** Pictures that could have a thumbnail. */
  wanted = 0;
  readonly #source: ExportSource;
  readonly #links: SheetLinks;
  readonly #hasThumbnails: boolean;
  readonly #chosen: Wanted[] = [];

  constructor(source: ExportSource, linkTo: LinkTo, hasThumbnails: boolean) {
    this.#source = source;
    this.#links = new SheetLinks(linkTo);
    this.#hasThumbnails = hasThumbnails;
  }

  async *lines(): AsyncGenerator<SheetLine> {
    for await (const row of this.#source.read()) yield await this.#line(row);
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

  async #line({ record, cells }: ExportRow): Promise<SheetLine> {
    this.tally.add(record);
    const own = this.#source.own.map((_, at) => cells[at]);
    const values = resultValues(record).map((value) =>
      typeof value === 'string' ? terminalLine(value) : value,
    );
    const [first] = record.files;
    return {
      cells: [...own, ...values],
      link: await this.#links.of(first?.path, own.length + OUTPUTS_AT),
      height: this.#choose(record.files, record.key) ? TALL : undefined,
    };
  }

  #choose(files: readonly FileRecord[], key: string): boolean {
    const picture = files.find(({ path, bytes }) => isPicture(path) && bytes <= THUMBNAIL_BYTES);
    if (picture === undefined) return false;
    this.wanted += 1;
    if (!this.#hasThumbnails || this.#chosen.length === THUMBNAILS) return false;
    this.#chosen.push({ path: picture.path, row: this.tally.rows, text: key });
    return true;
  }
}

const FILE_COLUMNS = ['row', 'key', 'file', 'node', 'bytes', 'sha256', 'name'];
const FILE_AT = FILE_COLUMNS.indexOf('file');

const addFiles = (workbook: WorkbookWriter, source: ExportSource, linkTo: LinkTo): Promise<SheetLimits> =>
  workbook.addSheet({ name: 'Files', header: FILE_COLUMNS, lines: fileLines(source, linkTo) });

async function* fileLines(source: ExportSource, linkTo: LinkTo): AsyncGenerator<SheetLine> {
  const links = new SheetLinks(linkTo);
  for await (const { record } of source.read())
    for (const { path, node = '', bytes, sha256, name } of record.files)
      yield {
        cells: [record.row, record.key, path, terminalLine(node), bytes, sha256, terminalLine(name)],
        link: await links.of(path, FILE_AT),
      };
}

// Counts what an export shows, while its rows are written.
type Use = { runs: number; seconds: number; costUsd: number };

class ExportTally {
  rows = 0;
  files = 0;
  readonly #outcomes = new Map<string, number>();
  readonly #gpus = new Map<string, Use>();

  add({ outcome, attempts, files }: ShownRow): void {
    this.rows += 1;
    this.files += files.length;
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1);
    for (const attempt of attempts) {
      const { gpu_used: gpu, cost_usd: cost = 0 } = attempt;
      if (gpu === undefined) continue;
      const use = this.#gpus.get(gpu) ?? { runs: 0, seconds: 0, costUsd: 0 };
      this.#gpus.set(gpu, {
        runs: use.runs + 1,
        seconds: use.seconds + gpuSecondsOf(attempt),
        costUsd: use.costUsd + cost,
      });
    }
  }

  async *lines({ file, hasEnded }: ExportSource): AsyncGenerator<SheetLine> {
    const gpus = [...this.#gpus];
    const isPriced = havePrices(file.service.prices);
    const sum = (of: (use: Use) => number): number => gpus.reduce((total, [, use]) => total + of(use), 0);
    const facts: readonly (readonly [string, string | number])[] = [
      ['batch', file.batch],
      ['sheet', file.sheet.name],
      ['deployment', file.deployment.name ?? file.deployment.id],
      ['created', file.createdAt],
      ['exported', new Date().toISOString()],
      ['state', hasEnded ? 'ended' : 'the batch had not ended'],
      ['rows', this.rows],
      ...this.#outcomes,
      ['files', this.files],
      ['runs', sum(({ runs }) => runs)],
      ['GPU seconds', rounded(sum(({ seconds }) => seconds))],
      ...(isPriced
        ? [['cost in US dollars, estimated', rounded(sum(({ costUsd }) => costUsd))] as const]
        : []),
      ...gpus.flatMap(([gpu, { runs, seconds, costUsd }]): [string, number][] => [
        [`${gpu}: runs`, runs],
        [`${gpu}: seconds`, rounded(seconds)],
        ...(isPriced ? [[`${gpu}: US dollars`, rounded(costUsd)] as [string, number]] : []),
      ]),
    ];
    for (const cells of facts) yield { cells };
  }
}

const rounded = (number: number): number => Number(number.toFixed(6));

/** Makes the links of a sheet and of its further sheets. An address for which a sheet has no room is not made, because in S3 each one is signed. */
export class SheetLinks {
  readonly #linkTo: (path: string) => string | Promise<string>;
  readonly #capacity: SheetCapacity;
  #lines = 0;
  #made = 0;

  constructor(linkTo: (path: string) => string | Promise<string>, capacity: SheetCapacity = EXCEL) {
    this.#linkTo = linkTo;
    this.#capacity = capacity;
  }

  /** Of the next line; `path`: the file to which the cell `at` leads. */
  async of(path: string | undefined, at: number): Promise<SheetLine['link']> {
    const { rows, links } = this.#capacity;
    // Each sheet begins with a header.
    if (this.#lines % (rows - 1) === 0) this.#made = 0;
    this.#lines += 1;
    if (path === undefined) return undefined;
    this.#made += 1;
    return { at, to: this.#made > links ? '' : await this.#linkTo(path) };
  }
}
