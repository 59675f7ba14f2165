// Prints the first lines of run and plan: rows, columns, GPUs, batch and webhooks.

import type { Config } from '../../host/settings/config.ts';
import type { CreatedBatch } from '../../batches/make-batch.ts';
import type { DraftBatch } from '../../batches/laid-out-sheet.ts';
import { terminalLine } from '../../errors/outside-text.ts';
import { factsOf } from '../../library/start/batch-plan.ts';
import { silentVendor } from '../../library/register-own-gpus.ts';
import type { Printer } from '../context.ts';
import { bytesText, count, plural } from '../../options/text/printed-numbers.ts';
import { guessLines } from './answer-policy.ts';
import { columnLines, filledLine } from '../column-lines.ts';
import { unreadLines } from './refused-lines.ts';

type LaidOut = NonNullable<CreatedBatch['laidOut']>;
type PlannedText = Pick<CreatedBatch, 'batch' | 'file' | 'laidOut'> &
  Pick<Partial<DraftBatch>, 'knownServers'>;

export function printBatch(printer: Printer, config: Config, planned: PlannedText): void {
  const { batch, file, laidOut, knownServers } = planned;
  const { paint } = printer;
  const { sheet, deployment, service } = file;
  const { hasWebhooks, ignoredGpus } = factsOf(config, planned);
  if (service.rehearsal)
    printer.notice(paint('yellow', 'rehearsal: runs use the local run service and cost nothing'));
  if (service.api === 'v1') {
    printer.notice(paint('yellow', 'the run service speaks V1, which cannot guarantee what V2 does:'));
    for (const limit of limitsOfV1(hasWebhooks)) printer.notice(`  - ${limit}`);
  }
  const repeats =
    sheet.repeats > 0
      ? ` · ${plural(sheet.repeats, 'row')} ${sheet.repeats === 1 ? 'repeats' : 'repeat'} an earlier one`
      : '';
  printer.notice(
    `${paint('green', '✓')} ${plural(sheet.rows, 'row')}, ${plural(sheet.columns.length, 'column')}${repeats}`,
  );
  for (const line of severalLines(file)) printer.notice(line);
  for (const line of guessLines(laidOut?.guesses ?? [])) printer.notice(line);
  const { reused = 0, refused = 0 } = sheet;
  if (reused > 0)
    printer.notice(
      `  reuse     ${plural(reused, 'row')} ${reused === 1 ? 'keeps its earlier result' : 'keep their earlier results'}; ${plural(sheet.rows - reused - refused, 'row')} to run`,
    );
  for (const line of unreadLines(laidOut?.refused)) printer.notice(printer.paint('yellow', line));
  for (const line of columnLines(laidOut?.uses ?? [])) printer.notice(line);
  const filled = filledLine(laidOut?.uses ?? []);
  if (filled !== undefined) printer.notice(filled);
  const constants = constantsText(file);
  if (constants !== '') printer.notice(`  set       ${constants}`);
  if (laidOut?.hashedNames !== undefined) printer.notice(hashedText(laidOut.hashedNames));
  if (laidOut?.files !== undefined) printer.notice(`  files     ${filesText(laidOut.files)}`);
  printer.notice(
    `  gpus      ${laidOut ? gpuText(laidOut.gpus, sheet.options.ladder?.join(' → ') ?? deployment.gpu) : terminalLine(deployment.gpu ?? 'as the rows ask')}`,
  );
  if (file.servers !== undefined) printer.notice(terminalLine(`  servers   ${file.servers.join(', ')}`));
  else if (knownServers !== undefined)
    printer.notice(terminalLine(`  servers   ${serversText(knownServers)}`));
  if (ignoredGpus !== undefined) printer.notice(paint('yellow', terminalLine(`            ${ignoredGpus}`)));
  if (laidOut && isGpuUnused(file, laidOut.gpus))
    printer.notice(
      paint('yellow', `            --gpu ${sheet.options.gpu} changes no row: each row names its own GPU`),
    );
  for (const line of ladderLines(file)) printer.notice(line);
  printer.notice(
    `  batch     ${paint('bold', batch)} · ${terminalLine(deployment.name ?? deployment.id)} · ${atTheSameTime(file)}`,
  );
  if (file.adaptive !== undefined && service.api === 'v1')
    printer.notice(
      `  auto      a V1 service may show no queueing times: then only 429 changes the concurrency, and it stays at most ${count(file.adaptive)}. Otherwise give -c <n>`,
    );
  const silent = silentVendor(config.webhook.url, file);
  if (silent !== undefined)
    printer.notice(
      `  answers   a lost answer stays unknown: ${silent} has no list of runs. To have it told, set RUNSHEET_WEBHOOK_URL to an address that ${silent} can reach`,
    );
  if (file.webhooks && !hasWebhooks)
    printer.notice(
      '  webhooks  none: the run service cannot reach this machine, so runs are polled. To receive webhooks, set RUNSHEET_WEBHOOK_URL to an address that it can reach',
    );
}

function severalLines({ sheet }: CreatedBatch['file']): readonly string[] {
  const { where, split = [], grid = {}, repeat } = sheet.options;
  const axes = Object.entries(grid).map(([name, { length }]) => `${count(length)} ${name}`);
  const each = Object.values(grid).reduce((product, { length }) => product * length, 1);
  const often =
    repeat === undefined ? '' : typeof repeat.by === 'number' ? count(repeat.by) : `"${repeat.by}"`;
  return [
    ...(where === undefined ? [] : [`  where     ${where}`]),
    ...(split.length === 0 ? [] : [`  split     ${split.join(', ')}`]),
    ...(axes.length === 0 ? [] : [`  grid      ${axes.join(' × ')}: ${plural(each, 'combination')}`]),
    ...(repeat === undefined ? [] : [`  repeat    each row ${often} ${often === '1' ? 'time' : 'times'}`]),
  ].map(terminalLine);
}

/** The files that the keys do not name: keys with blanks, slashes and other signs, and keys that differ only in case. */
function hashedText({ count: rows, first }: NonNullable<LaidOut['hashedNames']>): string {
  const texts = first.map(
    ({ key, name, isRepeated }) =>
      `${JSON.stringify(key)} → ${name}${isRepeated ? ' (another key differs only in case)' : ''}`,
  );
  const are = `${plural(rows, 'file')} ${rows === 1 ? 'is' : 'are'} named by key and a hash`;
  return terminalLine(`  names     ${are}: ${[...texts, ...(rows > texts.length ? ['…'] : [])].join(', ')}`);
}

const serversText = (urls: readonly string[]): string =>
  urls.length === 0
    ? 'none is known: add --comfyui <address>'
    : `all that are known: ${urls.join(', ')}; to choose: --comfyui <address>`;

function filesText({ files, bytes, toUpload }: NonNullable<LaidOut['files']>): string {
  const left =
    toUpload.files === 0
      ? 'all uploaded before'
      : `${count(toUpload.files)} to upload, ${bytesText(toUpload.bytes)}`;
  return `${plural(files, 'file')}, ${bytesText(bytes)}: ${left}`;
}

function ladderLines({ sheet, deployment }: CreatedBatch['file']): readonly string[] {
  const { options, lanes, sizedBy = [] } = sheet;
  if (options.ladder === undefined) return [];
  const classes = lanes.filter(({ size }) => size !== undefined).length;
  const by =
    sizedBy.length === 0
      ? 'no input shows what a run needs, so all rows climb together'
      : `${plural(classes, 'size class', 'size classes')} by ${sizedBy.join(' × ')}`;
  const own = deployment.gpu === undefined ? '' : `, ${deployment.gpu}`;
  return [
    terminalLine(`  ladder    ${options.ladder.join(' → ')}: ${by}`),
    terminalLine(
      `            without effect if the deployment has a GPU of its own${own} and ignores the one asked for`,
    ),
  ];
}

const atTheSameTime = ({ concurrency, adaptive }: CreatedBatch['file']): string =>
  adaptive === undefined
    ? `${count(concurrency)} at the same time`
    : `${count(adaptive)} at the same time at first (auto, at most ${count(concurrency)})`;

export const limitsOfV1 = (hasWebhooks: boolean): readonly string[] => [
  hasWebhooks
    ? 'if the response to a request is lost, its row waits for a webhook, else it ends as unknown, perhaps paid for; it is not sent again'
    : 'if the response to a request is lost, its row ends as unknown, perhaps paid for, because webhooks are off; it is not sent again',
  'runs cannot be cancelled',
  'the inputs of the deployment are not known in advance: the type of a cell is guessed, unless --type sets it',
  'times and costs are only as accurate as the dates that the service reports',
];

/** The inputs that no column fills: texts of `--set`, which may have columns in braces. */
function constantsText({ sheet }: CreatedBatch['file']): string {
  const texts = sheet.inputs.flatMap(({ input, kind, from }) => {
    const type = kind === 'auto' ? '' : ` (${kind})`;
    return 'value' in from ? [`${input} = ${JSON.stringify(from.value)}${type}`] : [];
  });
  return terminalLine(texts.join(', '));
}

function gpuText(gpus: Readonly<Record<string, number>>, own: string | undefined): string {
  const entries = Object.entries(gpus).sort(([, a], [, b]) => b - a);
  const texts = entries.map(
    ([gpu, rows]) => `${gpu || `${own ?? "the deployment's own"} (default)`} × ${count(rows)}`,
  );
  return terminalLine(texts.join(', ') || 'none');
}

/** --gpu applies only to rows that name no GPU. */
const isGpuUnused = ({ sheet: { options } }: CreatedBatch['file'], gpus: Readonly<Record<string, number>>) =>
  options.gpu !== undefined && Object.keys(gpus).length > 0 && gpus[options.gpu] === undefined;
