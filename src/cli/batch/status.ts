// Shows one batch from its folder, and from its workflow if Temporal is reachable. Read-only; starts no servers. Control
// commands print a batch as JSON through this file too.

import { havePrices } from '../../options/facts/prices.ts';
import type { ShownFlags } from '../flags/flags.ts';
import type { Config } from '../../host/settings/config.ts';
import { OUTCOMES, type OutcomeCounts } from '../../batch/outcome.ts';
import type { Progress } from '../../batch/shown/progress.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import {
  detailsFromFolder,
  statusNow,
  type BatchStatus as PublishedStatus,
  type HeldBy,
  type ShownProgress,
} from '../../library/handle/batch-status.ts';
import { aboutCostUsd } from '../../library/handle/speedometer.ts';
import { findBatch } from '../../library/handle/find-batch.ts';
import type { FoundBatch } from '../../library/handle/found-batch.ts';
import { printerFor, type Context, type Printer, type Next } from '../context.ts';
import { canaryReport } from '../../library/start/estimate.ts';
import { canaryReportLines, canaryText, isJudged } from '../run/forecast.ts';
import { configOf } from '../flags/batch-options.ts';
import { pauseHint } from '../../batch/pausing/pause-hints.ts';
import { NO_WORKER, troubleText } from '../follow/follow.ts';
import { undeliveredText } from '../follow/notice-watch.ts';
import { nextCommand, nextOfEnded, toContinue, toFollow } from '../next-command.ts';
import { costText, spentText } from '../follow/cost-text.ts';
import { allowedNow, foundText } from '../follow/found-concurrency.ts';
import { waitsOfServers } from '../../library/register-own-gpus.ts';
import type { ServerConnection } from '../../library/servers.ts';
import { serversFor, type Session } from '../command-session.ts';
import { fromText } from '../format.ts';
import { batchJson, type BatchStatus } from '../json/batch-json.ts';
import { plural, rounded, count, money, span } from '../../options/text/printed-numbers.ts';

export async function status(this: Context, flags: ShownFlags, name: string | undefined): Promise<void> {
  const printer = printerFor(this, flags);
  const config = configOf(flags);
  const batchFolder = await findBatch(config, name);
  const fromFolder = await detailsFromFolder(batchFolder);
  const servers = serversFor(config, printer);
  const live = fromFolder.summary
    ? fromFolder
    : await servers.asking((_, connection) => liveStatus(connection, batchFolder, fromFolder));
  const now = await withWaits(config, batchFolder, live);
  if (flags.output === 'json') printer.json(batchJson(batchFolder, now));
  else printer.data(textOf(batchFolder, now));
  printer.next(...nextOf(batchFolder, now, servers.isCluster));
}

/** Adds the GPU servers that a running batch waits for, and their runs without an answer. */
async function withWaits(config: Config, { file }: FoundBatch, live: BatchStatus): Promise<BatchStatus> {
  if (live.state !== 'running' || live.heldBy !== undefined) return live;
  const { away, unanswered } = await waitsOfServers(config.home, file);
  return { ...live, awayServers: away, unansweredRuns: unanswered };
}

export const liveStatus = async (
  servers: ServerConnection,
  batchFolder: FoundBatch,
  own: BatchStatus,
): Promise<BatchStatus> => withForecast(batchFolder, await statusNow(servers, batchFolder, own));

/** Adds the fields that only commands compute. */
async function withForecast(batchFolder: FoundBatch, live: PublishedStatus): Promise<BatchStatus> {
  const { progress } = live;
  const about = progress && aboutCostUsd(progress);
  const canary = progress && isJudged(progress) ? await canaryReport(batchFolder) : undefined;
  return {
    ...live,
    ...(about !== undefined && { about_cost_usd: rounded(about) }),
    ...(canary && { canary }),
  };
}

function textOf({ file }: FoundBatch, shown: BatchStatus): string {
  const { batch, folder, from, rows, outcomes, progress, summary, heldBy, undelivered = [] } = shown;
  const reason = progress?.reason;
  const lines = [
    `${terminalLine(batch)}  ${stateText(shown)}`,
    ...(heldBy === undefined ? [] : [`  servers   ${terminalLine(serversText(heldBy))}`]),
    ...(from === undefined ? [] : [`  from      ${fromText(from)}`]),
    `  rows      ${count(doneOf(outcomes))} of ${count(rows)} have an outcome${outcomeText(outcomes) && `: ${outcomeText(outcomes)}`}`,
    ...(progress
      ? [
          `  slots     ${progress.sending + progress.running + progress.unconfirmed} of ${allowedNow(progress)} in use${progress.unconfirmed ? `, ${progress.unconfirmed} unconfirmed` : ''}`,
          ...[foundText(progress)].filter((text) => text !== undefined).map((text) => `  auto      ${text}`),
        ]
      : []),
    ...(progress?.pool === undefined ? [] : [`  pool      ${poolText(progress)}`]),
    ...(progress?.ladder === undefined ? [] : [`  ladder    ${ladderText(progress.ladder)}`]),
    ...canaryLines(shown),
    ...(reason === undefined ? [] : [`  reason    ${terminalLine(reason)}`]),
    ...(shown.unattended ? [`  worker    ${NO_WORKER}`] : []),
    ...(shown.trouble ? [`  worker    ${terminalLine(troubleText(shown.trouble))}`] : []),
    ...(shown.awayServers ?? []).map(
      ({ url, reason: why }) =>
        `  waits     ${terminalLine(url)} takes no runs: ${terminalLine(why)}; the batch goes on when it answers`,
    ),
    ...(shown.unansweredRuns ?? []).map(
      ({ url, runs, untilMs }) =>
        `  waits     ${terminalLine(url)} has not said whether it took ${plural(runs, 'run')}; known by ${new Date(untilMs).toLocaleTimeString('sv-SE').slice(0, 5)} at the latest`,
    ),
    ...undelivered.map((notice) => `  notices   ${terminalLine(undeliveredText(notice))}`),
    ...(summary ? [`  took      ${span(summary.seconds)}`] : []),
    ...[costLine(file, shown)].filter((text) => text !== undefined).map((text) => `  cost      ${text}`),
    `  folder    ${terminalLine(folder)}`,
  ];
  return lines.join('\n');
}

/** `interrupted; was paused: 401 Revoked token`. */
const stateText = ({ state, wasPaused = [] }: BatchStatus): string =>
  state === 'interrupted' && wasPaused.length > 0
    ? `interrupted; was paused: ${terminalLine(wasPaused.map(({ reason }) => reason).join('; '))}`
    : state;

/** `the state folder /srv/a/.runsheet (pid 123)`. */
function serversText({ home, address, namespace, host, pid }: HeldBy): string {
  if (home === undefined) return `Temporal at ${address ?? 'an unknown address'}, namespace ${namespace}`;
  return `of the state folder ${home}${pid === undefined ? `, on ${host}` : ` (pid ${pid})`}`;
}

/** An unknown cost is not $0.00: without a server, rows may have runs that no result shows yet. */
function costLine(
  { service }: FoundBatch['file'],
  { summary, progress, costUsd }: BatchStatus,
): string | undefined {
  if (!havePrices(service.prices)) return undefined;
  if (summary !== undefined) return costText(summary);
  if (progress !== undefined) return spentText(progress);
  if (costUsd === undefined) return 'not known while no server runs the batch';
  return costUsd === 0 ? undefined : `at least ${money(costUsd)}, estimated`;
}

/** `gpus: 16 slots granted, weight 3`. */
const poolText = ({ pool = '', granted = 0, weight = 1, urgency = 0 }: ShownProgress): string =>
  `${terminalLine(pool)}: ${count(granted)} slots granted, weight ${weight}, urgency ${urgency}`;

/** `size 1 on T4, size 2 on A10G (trying)`. */
const ladderText = (ladder: NonNullable<Progress['ladder']>): string =>
  ladder
    .map(
      ({ size, gpu, isProven }) =>
        `${size === 0 ? 'unknown size' : `size ${size}`} on ${gpu}${isProven ? '' : ' (trying)'}`,
    )
    .join(', ') || 'no rows';
function canaryLines({ progress, canary }: BatchStatus): readonly string[] {
  if (canary !== undefined) return canaryReportLines(canary);
  return progress?.canary === undefined ? [] : [`  ${canaryText(progress.canary)}`];
}

function nextOf(batchFolder: FoundBatch, shown: BatchStatus, isCluster: boolean): readonly Next[] {
  const { state, progress, summary, unattended, trouble, heldBy, wasPaused = [] } = shown;
  const { batch } = batchFolder;
  if (summary !== undefined) return nextOfEnded(batchFolder, summary);
  if (heldBy !== undefined) return nextThere(batchFolder, shown, heldBy);
  const [before] = wasPaused;
  if (before !== undefined) return [['hint', pauseHint(batch, before, true)]];
  if (unattended) return [['start', 'runsheet worker']];
  if (trouble !== undefined && isCluster) return [['check', 'runsheet doctor --cluster']];
  const pause = progress?.pauses[0];
  if (state === 'paused' && pause?.kind !== 'user' && pause?.kind !== 'deadline')
    return [['hint', pauseHint(batch, pause, false, progress?.budget?.neededNano)]];
  return [state === 'interrupted' || state === 'paused' ? toContinue(batchFolder) : toFollow(batchFolder)];
}

/** The command that reaches the servers holding the batch. */
function nextThere(batchFolder: FoundBatch, { state }: BatchStatus, { settings }: HeldBy): readonly Next[] {
  const words = Object.entries(settings).map(([name, value]) => `${name}=${shellWord(value)} `);
  if (words.length === 0) return [];
  const verb = state === 'interrupted' || state === 'paused' ? 'resume' : 'follow';
  return [['there', `${words.join('')}${nextCommand(state === 'unknown' ? 'status' : verb, batchFolder)}`]];
}

export const doneOf = (outcomes: OutcomeCounts) =>
  OUTCOMES.reduce((sum, outcome) => sum + outcomes[outcome], 0);

export const outcomeText = (outcomes: OutcomeCounts): string =>
  OUTCOMES.filter((outcome) => outcomes[outcome] > 0)
    .map((outcome) => `${count(outcomes[outcome])} ${outcome}`)
    .join(', ');

/** Prints nothing unless the format is JSON. `session`: servers that may run the batch. */
export async function printBatchJson(
  printer: Printer,
  batchFolder: FoundBatch,
  session?: Session,
): Promise<void> {
  if (printer.output !== 'json') return;
  const own = await detailsFromFolder(batchFolder);
  const now =
    session === undefined ? own : await liveStatus({ session, here: session.here }, batchFolder, own);
  printer.json(batchJson(batchFolder, now));
}
