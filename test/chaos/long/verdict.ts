// Checks a finished batch from outside: compares its folder with the service's own run list and files.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import pMap from 'p-map';
import { atRisk, knownRuns } from '../../../src/batch/accounting/request-ledger.ts';
import type { Run } from '../../../src/service-client/contract/run.ts';
import { isTerminal } from '../../../src/service-client/contract/statuses.ts';
import type { RowRecord } from '../../../src/results/row-record.ts';
import type { DuplicateRun } from '../../../src/results/duplicates-file.ts';
import type { Summary } from '../../../src/results/summary.ts';
import type { BatchName } from '../../../src/batch/workflow-ids.ts';
import { readToken } from '../../../src/webhook/webhook-token.ts';
import type { QueueRunCall } from '../../stage/gateway.ts';
import { mostOutstanding } from '../../stage/truth.ts';

const FINDINGS = {
  lost: 'rows that are not in the results exactly once',
  untrue: 'rows whose outcome, run or files differ from the service',
  unreported: 'runs of the batch that neither belong to a row nor are reported as duplicates',
  'bought twice': 'duplicates that the service did not cause',
  others: 'runs of others that were cancelled',
  'too many': 'more runs at the same time than the concurrency',
  sums: 'sums that do not add up',
  stuck: 'batches that did not end',
} as const;
export type Findings = Record<keyof typeof FINDINGS, string[]>;

export const noFindings = (): Findings =>
  Object.fromEntries(Object.keys(FINDINGS).map((kind) => [kind, []])) as unknown as Findings;

export type Evidence = {
  readonly folder: string;
  readonly name: BatchName;
  readonly rows: number;
  readonly concurrency: number;
  /** The runs of the service, including those of others. */
  readonly runs: readonly Run[];
  readonly calls: readonly QueueRunCall[];
};

type JudgedRow = Readonly<Record<string, string>>;
type Facts = Evidence & {
  readonly own: readonly Run[];
  readonly byId: ReadonlyMap<string, Run>;
  readonly results: readonly JudgedRow[];
  readonly records: readonly RowRecord[];
  readonly duplicates: readonly DuplicateRun[];
  readonly summary: Summary;
};

export async function judge(evidence: Evidence): Promise<Findings> {
  const facts = factsOf(evidence);
  const findings = noFindings();
  findings.lost.push(...lostRows(facts));
  for (const row of facts.results) findings.untrue.push(...untrueIn(row, facts));
  findings.untrue.push(...(await wrongFiles(facts)));
  findings.unreported.push(...unreportedRuns(facts));
  findings['bought twice'].push(...boughtTwice(facts));
  findings.others.push(...touchedRuns(facts));
  findings['too many'].push(...tooMany(facts));
  findings.sums.push(...wrongSums(facts));
  return findings;
}

function factsOf(evidence: Evidence): Facts {
  const { folder, name, runs } = evidence;
  const text = (file: string): string =>
    existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : '';
  const lines = (file: string): readonly unknown[] =>
    text(file)
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as unknown);
  const isOwn = ({ webhook }: Run): boolean => {
    const token = readToken(webhook);
    return token?.batch === name.batch && token.mark === name.mark;
  };
  return {
    ...evidence,
    own: runs.filter(isOwn),
    byId: new Map(runs.map((run) => [run.id, run])),
    results: parse(text('results.csv'), { columns: true }),
    records: lines('results.jsonl') as readonly RowRecord[],
    duplicates: lines('duplicates.jsonl') as readonly DuplicateRun[],
    summary: JSON.parse(text('summary.json')) as Summary,
  };
}

function lostRows({ results, records, rows }: Facts): readonly string[] {
  const wanted = Array.from({ length: rows }, (_, at) => at + 1).join(' ');
  const inCsv = results.map((row) => row['row']).join(' ');
  const inLines = records.map(({ row }) => row).join(' ');
  return [
    ...(inCsv === wanted ? [] : [`results.csv has the rows ${inCsv}`]),
    ...(inLines === wanted ? [] : [`results.jsonl has the rows ${inLines}`]),
  ];
}

/** The statuses that the run of a row with this outcome may have at the service. */
const STATUSES: Readonly<Record<string, readonly string[]>> = {
  succeeded: ['success'],
  failed: ['failed'],
  // The batch cancels runs that take too long.
  'timed-out': ['timeout', 'cancelled'],
  cancelled: ['cancelled'],
};

function untrueIn(row: JudgedRow, { byId, name }: Facts): readonly string[] {
  const { outcome = '', run_id: id = '', reason = '' } = row;
  const run = byId.get(id);
  const text = `row ${row['row']} is ${outcome} (${reason}) by run ${id}, which is ${run?.status}`;
  if (!(STATUSES[outcome] ?? []).includes(run?.status ?? '')) return [text];
  const token = readToken(run?.webhook);
  const isItsOwn = token?.mark === name.mark && String(token.place) === row['row'];
  return isItsOwn ? [] : [`${text}, of row ${token?.place}`];
}

async function wrongFiles({ results, byId, folder }: Facts): Promise<readonly string[]> {
  const succeeded = results.filter(({ outcome }) => outcome === 'succeeded');
  const wrong = await pMap(
    succeeded,
    async (row) => {
      const run = byId.get(row['run_id'] ?? '');
      const urls = run?.outputs.flatMap(({ files }) => files.map(({ url }) => url)) ?? [];
      const paths = (row['outputs'] ?? '').split(' ').filter(Boolean);
      if (urls.length === 0 || urls.length !== paths.length)
        return [`row ${row['row']} has ${paths.length} files, its run ${urls.length}`];
      const same = await Promise.all(urls.map((url, at) => isSame(url, join(folder, paths[at] ?? ''))));
      return same.every(Boolean) ? [] : [`a file of row ${row['row']} is not that of its run`];
    },
    { concurrency: 8 },
  );
  return wrong.flat();
}

async function isSame(url: string, path: string): Promise<boolean> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return existsSync(path) && Buffer.from(await answer.arrayBuffer()).equals(readFileSync(path));
}

const namedIds = (records: readonly RowRecord[]): readonly string[] =>
  records.flatMap(({ attempts }) => attempts.flatMap(({ run_id: id }) => (id === undefined ? [] : [id])));

function unreportedRuns({ own, records, duplicates, folder }: Facts): readonly string[] {
  const late = existsSync(join(folder, 'late')) ? readdirSync(join(folder, 'late')) : [];
  const named = new Set([
    ...namedIds(records),
    ...duplicates.map(({ run_id: id }) => id),
    ...late.map((name) => name.replace(/\.json$/, '')),
  ]);
  return own.filter(({ id }) => !named.has(id)).map((run) => `${run.id} (${run.status}) at ${run.webhook}`);
}

/** Only two faults of the service may cause a duplicate: two runs for one request, or a 429 although it made a run. */
function boughtTwice({ duplicates, own, calls }: Facts): readonly string[] {
  const refused = new Set(calls.filter(({ status }) => status === 429).map(({ webhook }) => webhook));
  const runsOf = Map.groupBy(own, ({ webhook }) => webhook);
  const callsOf = Map.groupBy(calls, ({ webhook }) => webhook);
  return duplicates
    .filter(({ run_id: id }) => {
      const webhook = own.find((run) => run.id === id)?.webhook;
      const [runs = 0, sent = 0] = [runsOf.get(webhook)?.length, callsOf.get(webhook)?.length];
      const isDuplicate = runs > 1 && sent <= 1;
      // A row whose first run was hidden behind a 429 has its second one under the next attempt.
      const { place } = readToken(webhook) ?? {};
      const wasHidden = [...refused].some(
        (address) => readToken(address)?.place === place && runsOf.has(address),
      );
      return !isDuplicate && !wasHidden;
    })
    .map((run) => `row ${run.row}, attempt ${run.attempt}: ${run.run_id} (${run.status})`);
}

function touchedRuns({ runs, own }: Facts): readonly string[] {
  const ownIds = new Set(own.map(({ id }) => id));
  return runs
    .filter(({ id, status }) => !ownIds.has(id) && status === 'cancelled')
    .map(({ id, webhook }) => `${id} of ${webhook} is cancelled`);
}

/** Runs that the batch could not know do not count: second runs, and runs whose POST got a 429. */
function tooMany({ own, calls, duplicates, concurrency }: Facts): readonly string[] {
  const refused = new Set(calls.filter(({ status }) => status === 429).map(({ webhook }) => webhook));
  const second = new Set(duplicates.map(({ run_id: id }) => id));
  const counted = own.filter(({ id, webhook }) => !second.has(id) && !refused.has(webhook));
  const most = mostOutstanding(counted);
  return most > concurrency ? [`${most} runs at the same time, the concurrency is ${concurrency}`] : [];
}

function wrongSums(facts: Facts): readonly string[] {
  const { results, records, duplicates, summary, own, rows } = facts;
  const { outcomes, requests, lists } = summary;
  const { sent, accepted, rejected, throttled, blocked, unconfirmed, adopted, absent } = requests;
  const named = new Set(namedIds(records)).size;
  const ended = own.filter(({ status }) => isTerminal(status)).length;
  const counted = (outcome: string): number => results.filter((row) => row['outcome'] === outcome).length;
  const costs = records.flatMap(({ attempts }) => attempts.map(({ cost_usd: cost = 0 }) => cost));
  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  const equal = (what: string, a: number, b: number, by = 0): readonly string[] =>
    Math.abs(a - b) <= by ? [] : [`${what}: ${a} is not ${b}`];
  return [
    ...equal('outcomes and rows', total(Object.values(outcomes)), rows),
    ...Object.entries(outcomes).flatMap(([name, count]) => equal(`${name} rows`, count, counted(name))),
    ...equal('requests', sent, accepted + rejected + throttled + blocked + unconfirmed),
    ...equal('unconfirmed requests', unconfirmed, adopted.webhook + adopted.list + absent + atRisk(requests)),
    ...equal('unknown requests', atRisk(requests), 0),
    ...equal('runs that requests started and runs that rows name', knownRuns(requests), named),
    ...equal('runs of rows and duplicates, and runs at the service', named + duplicates.length, own.length),
    ...equal('duplicates', summary.duplicates.runs, duplicates.length),
    ...equal(
      'seconds of duplicates',
      summary.duplicates.gpu_seconds,
      total(duplicates.map((duplicate) => duplicate.gpu_seconds)),
      0.001,
    ),
    ...equal('cost', summary.cost_usd ?? 0, total(costs), 0.001),
    ...equal('runs that have ended', ended, own.length),
    ...(lists === 'complete' ? [] : [`the lists are ${lists}`]),
  ];
}
