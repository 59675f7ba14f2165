// Reports of batches of any size, without running them: rows with retries, failures, several files and pictures of mixed
// proportions. `node test/results/page/scene.ts <folder> <rows>` writes one to look at.

import { hash } from 'node:crypto';
import { join } from 'node:path';
import { hashOf, numbersFrom } from '../../../src/run-service/chance.ts';
import {
  inksFrom,
  paintMosaic,
  encodePng,
} from '../../../src/run-service/executors/rehearsal/pictures/pictures.ts';
import { reportWriter } from '../../../src/results/page/report.ts';
import type { AttemptRecord, FileRecord, RowRecord } from '../../../src/results/row-record.ts';
import type { Summary } from '../../../src/results/summary.ts';
import type { BatchFile } from '../../../src/store/batch-file.ts';
import { folderStore } from '../../../src/store/folder.ts';
import type { Store } from '../../../src/store/store.ts';

const COLUMNS = ['sku', 'category', 'prompt', 'seed', 'steps', 'notes'];
const STARTED = Date.parse('2026-11-21T09:00:00Z');
const CATEGORIES = ['chairs', 'lamps', 'tables', 'rugs'];
const STEPS = [20, 30, 40];
const SHAPES = [
  [512, 512],
  [384, 576],
  [640, 400],
  [512, 640],
] as const;
const GPUS = ['A10G', 'L40S', 'H100'] as const;
const SPEED = { A10G: 9.4, L40S: 5.1, H100: 2.3 };
const PRICE = { A10G: 0.000306, L40S: 0.000542, H100: 0.002125 };
const REASONS = [
  'CUDA out of memory: tried to allocate 2.31 GiB on a GPU of 22 GiB',
  'node 14 (LoadImage): the address https://shop.example/img/4411.jpg answers 404',
  'the run reported nothing for 600 s',
] as const;
const THINGS = ['an oak chair', 'a brass desk lamp', 'a round marble table', 'a woven wool rug'];
const PLACES = [
  'in a bright loft',
  'by a window at dusk',
  'on a terrazzo floor',
  'in a library',
  'before a linen curtain',
];
const STYLES = [
  'soft morning light, 50 mm, shallow depth of field, catalogue photograph',
  'hard side light, long shadows, editorial photograph on medium format film with visible grain and muted colours',
  'studio light',
];

/** `pictures`: how many different files there are; rows share them beyond that. */
export type SceneParams = {
  readonly rows: number;
  readonly pictures?: number;
  readonly failing?: number;
  /** Rows that have the same picture although their inputs differ. */
  readonly same?: number;
  /** The columns that are axes of a grid. */
  readonly grid?: readonly string[];
  readonly change?: (record: RowRecord) => RowRecord;
};

/** Writes the report of a batch and its pictures; returns the page's path. */
export async function writeScene(folder: string, params: SceneParams): Promise<string> {
  const store = folderStore(folder);
  const { rows, pictures = 60, change = (record) => record } = params;
  const files = await Promise.all(
    Array.from({ length: Math.min(rows, pictures) }, (_, at) => picture(store, at)),
  );
  const file = batchFile(rows, params.grid);
  const report = reportWriter({ file, store, rows, startedAt: STARTED, confirm: async () => undefined });
  let cost = 0;
  for (let row = 1; row <= rows; row += 1) {
    const record = change(recordOf(row, params, files));
    cost += record.attempts.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0);
    const { sku = '', category = '', ...inputs } = record.inputs as Record<string, string>;
    const note = row % 7 === 0 ? 'retake of last season' : '';
    await report.add({ ...record, inputs }, [
      sku,
      category,
      inputs['prompt'] ?? '',
      inputs['seed'] ?? '',
      String(inputs['steps']),
      note,
    ]);
  }
  await report.write(summaryOf(rows, cost));
  return join(folder, 'report.html');
}

export const batchFile = (rows: number, grid?: readonly string[]): BatchFile =>
  ({
    batch: 'autumn-catalogue-7f3a',
    mark: '0123456789abcdef',
    createdAt: new Date(STARTED).toISOString(),
    sheet: {
      name: 'autumn-catalogue.csv',
      sha256: hash('sha256', 'sheet'),
      columns: COLUMNS,
      inputs: ['prompt', 'seed', 'steps'].map((input) => ({ input, kind: 'auto', from: { column: input } })),
      rows,
      ...(grid && { grid }),
    },
    deployment: { id: 'd', name: 'product-scene-v3' },
    service: { rehearsal: false },
  }) as unknown as BatchFile;

function recordOf(
  row: number,
  { failing = 0.03, same = 0 }: SceneParams,
  files: readonly FileRecord[],
): RowRecord {
  const draw = numbersFrom(hashOf(`row ${row}`));
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(draw() * choices.length)] as T;
  const gpu = pick(GPUS);
  const isFailed = draw() < failing;
  const tries = isFailed ? 3 : draw() < 0.08 ? 2 : 1;
  const category = pick(CATEGORIES);
  const thing = THINGS[CATEGORIES.indexOf(category)] ?? '';
  const created = STARTED + row * 140;
  const reason = pick(REASONS);
  const attempts = Array.from({ length: tries }, (_, at): AttemptRecord => {
    const isLost = isFailed || at < tries - 1;
    const [queue, cold, run] = [
      draw() * 6,
      draw() < 0.1 ? 12 * draw() : 0,
      SPEED[gpu] * (0.8 + draw() * 0.5),
    ];
    const began = created + at * 20_000;
    return {
      attempt: at + 1,
      outcome: isLost ? 'failed' : 'succeeded',
      ...(isLost ? { reason, failure: reason.startsWith('CUDA') ? 'out-of-memory' : 'node-error' } : {}),
      run_id: `run-${hash('sha256', `${row}/${at}`).slice(0, 12)}`,
      gpu_used: gpu,
      created_at: new Date(began).toISOString(),
      ended_at: new Date(began + (queue + cold + run) * 1_000).toISOString(),
      queue_seconds: queue,
      cold_start_seconds: cold,
      run_seconds: run,
      cost_usd: (cold + run) * PRICE[gpu],
    };
  });
  const own = row <= same ? 0 : (row * 7) % Math.max(1, files.length);
  const several = row % 11 === 0 ? 3 : 1;
  return {
    row,
    key: `SKU-${String(row).padStart(4, '0')}`,
    outcome: isFailed ? 'failed' : 'succeeded',
    ...(isFailed ? { reason } : {}),
    inputs: {
      sku: `SKU-${String(row).padStart(4, '0')}`,
      category,
      prompt: `${thing} ${pick(PLACES)}, ${pick(STYLES)}`,
      seed: String(Math.floor(draw() * 1e15)),
      steps: pick(STEPS),
    },
    attempts,
    files: isFailed
      ? []
      : Array.from({ length: several }, (_, at) =>
          differing(files[(own + at) % files.length], row, row <= same),
        ),
  };
}

/** Rows share files here, which no report should point out. */
function differing(file: FileRecord | undefined, row: number, isSame: boolean): FileRecord {
  if (file === undefined) throw new Error('the scene has no picture');
  return isSame ? file : { ...file, sha256: hash('sha256', `${row} ${file.sha256}`) };
}

async function picture(store: Store, number: number): Promise<FileRecord> {
  const draw = numbersFrom(hashOf(`picture ${number}`));
  const [width, height] = SHAPES[number % SHAPES.length] ?? SHAPES[0];
  const bitmap = { width, height, pixels: new Uint8Array(width * height) };
  paintMosaic(bitmap, { columns: 4, rows: Math.ceil((4 * height) / width) }, draw);
  const bytes = encodePng(bitmap, Uint8Array.from(inksFrom(draw).flat()), '');
  const path = `outputs/${String(number).padStart(4, '0')}.png`;
  await store.write(path, bytes, 'cached');
  return { path, bytes: bytes.length, sha256: hash('sha256', bytes), name: `scene_${number}.png` };
}

const summaryOf = (rows: number, cost: number): Summary =>
  ({
    batch: 'autumn-catalogue-7f3a',
    deployment: 'product-scene-v3',
    runs: Math.round(rows * 1.1),
    bought_twice: 0,
    restarts: 3,
    reused: 0,
    lists: 'complete',
    seconds: rows * 0.14 + 20,
    // Without a cost, the summary is that of GPUs without a price, one of whose runs was lost.
    ...(cost > 0 && { cost_usd: cost, total_cost_usd: cost }),
    idle: [],
    undelivered: { rows: 0, cost_usd: 0 },
    unpriced: cost > 0 ? 0 : 1,
    gpus: {},
    started_at: new Date(STARTED).toISOString(),
    ended_at: new Date(STARTED + rows * 140 + 20_000).toISOString(),
  }) as unknown as Summary;

const [, script, folder, rows] = process.argv;
if (script === import.meta.filename && folder !== undefined)
  await writeScene(folder, { rows: Number(rows ?? 300), same: Number(rows ?? 300) > 100 ? 14 : 0 });
