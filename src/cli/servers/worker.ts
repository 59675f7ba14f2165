// worker: runs workflows and activities, on a cluster with its own webhook receiver, or as a child of the embedded servers.

import { definedOnly } from '../../options/defined-only.ts';
import type { FlagsOf } from '../flags/flags.ts';
import type { workerFlags } from './server-flags.ts';
import { type Config, loadConfigWith } from '../../host/settings/config.ts';
import { EXIT } from '../../errors/error.ts';
import { openLog } from '../../host/log.ts';
import { temporalFrom, type TemporalAddress } from '../../temporal/temporal-address.ts';
import { startWorker, type RunningWorker } from '../../worker/worker.ts';
import type { WorkerParts } from '../../worker/composition.ts';
import { canReachReceiver } from '../../host/local-address.ts';
import { printerFor, type Context } from '../context.ts';
import { hearInterrupts } from '../follow/interrupt.ts';
import { configOf } from '../flags/batch-options.ts';
import {
  begun,
  awaitWork,
  ORPHAN_DRAIN_MS,
  tellStack,
  untilStackIsGone,
} from '../../temporal/embedded/stack-channel.ts';
import { plural } from '../../options/text/printed-numbers.ts';

const REPORT_MS = 250;
/** The embedded servers may first download Temporal; they end this process when they give up. */
const STACK_STARTS_MS = 600_000;
const CLUSTER_STARTS_MS = 30_000;

export default async function worker(this: Context, flags: FlagsOf<typeof workerFlags>): Promise<void> {
  const begin = flags.embedded ? await begun() : undefined;
  const config = begin
    ? loadConfigWith(begin.environment)
    : configOf(definedOnly({ metrics: flags.metrics }));
  const log = openLog(config.logLevel, 'worker');
  const temporal: TemporalAddress = temporalFrom(config.environment) ?? LOCALHOST;
  const parts: WorkerParts = flags.noReceiver ? 'no-receiver' : flags.receiverOnly ? 'receiver-only' : 'all';
  const running = await startWorker({
    config,
    temporal,
    server: flags.embedded ? 'embedded' : 'cluster',
    parts,
    log,
    patienceMs: flags.embedded ? STACK_STARTS_MS : CLUSTER_STARTS_MS,
    ...definedOnly({ receiverPort: begin?.port }),
  });
  // A failed worker ends this process, and the embedded servers or the service manager restart it.
  const failed = running.done.then(() => new Promise<never>(() => undefined));
  const serving = flags.embedded ? serveStack(running) : serveTerminal(this, config, running, temporal);
  if (await Promise.race([serving, failed])) return;
  // Pending work would keep the process alive.
  process.exit(EXIT.interrupted);
}

const LOCALHOST: TemporalAddress = {
  address: '127.0.0.1:7233',
  namespace: 'default',
  from: 'nothing set',
  options: {},
};

/** Resolves with whether all work in progress ended in time. */
async function serveStack(running: RunningWorker): Promise<boolean> {
  void awaitWork().then(running.work);
  tellStack({ type: 'ready', url: running.receiver?.url, port: running.receiver?.port ?? 0 });
  const how = await untilStackIsGone();
  const reports = setInterval(() => tellStack({ type: 'onWire', count: running.onWire() }), REPORT_MS);
  const hasEnded = await running.stop(how === 'lost' ? ORPHAN_DRAIN_MS : undefined);
  clearInterval(reports);
  return hasEnded;
}

async function serveTerminal(
  context: Context,
  config: Config,
  running: RunningWorker,
  temporal: TemporalAddress,
): Promise<boolean> {
  const printer = printerFor(context);
  using interrupts = hearInterrupts(context.process);
  running.work();
  printer.notice(`worker at ${temporal.address} (${temporal.from}), namespace ${temporal.namespace}`);
  printer.notice(running.receiver ? `webhooks at ${running.receiver.url}` : 'no receiver in this process');
  if (running.monitorUrl) printer.notice(`metrics at ${running.monitorUrl}/metrics`);
  const { apiUrl, webhook } = config;
  if (running.receiver && apiUrl !== undefined && !canReachReceiver(apiUrl, webhook.url))
    printer.notice(
      `${apiUrl} cannot reach them, so its runs are polled; to receive webhooks, set RUNSHEET_WEBHOOK_URL to an address that it can reach`,
    );
  await interrupts.first;
  const onWire = running.onWire();
  printer.notice(
    onWire > 0
      ? `stopping; ${plural(onWire, 'request')} on the wire (Ctrl-C again leaves them unconfirmed)`
      : 'stopping',
  );
  interrupts.onSecond(() => process.exit(EXIT.interrupted));
  const hasEnded = await running.stop();
  if (!hasEnded) {
    const left = running.onWire();
    const after = `after ${config.member.drainMs / 1_000} s (RUNSHEET_DRAIN_SECONDS)`;
    printer.notice(
      left > 0
        ? `${plural(left, 'request')} without an answer ${after}: unconfirmed`
        : `some work had not ended ${after}: another worker repeats it`,
    );
  }
  return hasEnded;
}
