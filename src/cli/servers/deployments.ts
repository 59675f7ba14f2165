// deployments: lists deployments and workflows; with a name, shows its inputs and the command that runs a sheet.

import type { FlagsOf } from '../flags/flags.ts';
import type { deploymentsFlags } from './server-flags.ts';
import { existsSync } from 'node:fs';
import { stringify } from 'csv-stringify/sync';
import { problem, type RunsheetError } from '../../errors/error.ts';
import { shellWord, terminalLine } from '../../errors/outside-text.ts';
import { programBehind, type ShownProgram } from '../../library/kept-program.ts';
import { listDeployments, showDeployment } from '../../library/deployments.ts';
import type { Deployment, InputType } from '../../service-client/contract/deployment.ts';
import { listBatchFolders } from '../../store/batch-folders.ts';
import { definedOnly } from '../../options/defined-only.ts';
import { configOf, meantService } from '../flags/batch-options.ts';
import { withOwnGpus } from '../flags/gpu-flags.ts';
import { printerFor, type Context, type Next } from '../context.ts';
import { aligned } from '../format.ts';
import { plural, span } from '../../options/text/printed-numbers.ts';
import { deploymentJson } from '../json/documents.ts';
import { programLines } from './program-lines.ts';
import { isWorkflow, usualColumns, workflowTable } from './workflow-table.ts';
import { keepNames } from '../completion/proposals.ts';

type DeploymentsFlags = FlagsOf<typeof deploymentsFlags>;

export default async function deployments(
  this: Context,
  commandFlags: DeploymentsFlags,
  named: string | undefined,
): Promise<void> {
  const printer = printerFor(this, commandFlags);
  const config = configOf(commandFlags);
  const { serversFor } = await import('../command-session.ts');
  await using servers = serversFor(config, printer);
  const flags = await withOwnGpus<DeploymentsFlags & { readonly deployment?: string }>(servers, commandFlags);
  const { deployment: name = named } = flags;
  const meant = meantService(config, { ...flags, ...definedOnly({ deployment: name }) });
  if (flags.local) await servers.look(true);
  const batches = await batchesByDeployment(config.out);
  const shown = (deployment: Deployment) => deploymentJson(deployment, batches.get(deployment.id) ?? 0);
  if (name === undefined) {
    const listing = await listDeployments(config, meant);
    const names = listing.map((deployment) => deployment.name ?? deployment.id);
    keepNames(config, 'deployments', names);
    if (flags.output === 'json') printer.json(listing.map(shown));
    else for (const line of listTable(listing)) printer.data(line);
    const first = listing.find(({ inputTypes }) => inputTypes !== undefined) ?? listing[0];
    const isStarred = listing.some(({ inputTypes }) => inputTypes?.some(({ required }) => required));
    if (first === undefined) printer.notice('no deployments');
    else if (isStarred) printer.notice('* required');
    const next: Next =
      first === undefined
        ? ['check', 'runsheet doctor']
        : ['inputs', `runsheet deployments ${wordsFor(first, flags.local)}`];
    printer.next(next);
    return;
  }
  const deployment = await showDeployment(config, meant, name);
  const program = flags.local ? programBehind(config.home, deployment.id) : undefined;
  const shownName = wordsFor(deployment, flags.local);
  const hasColumns = columnsOf(deployment).length > 0;
  if (flags.output === 'json')
    printer.json(deploymentJson(deployment, batches.get(deployment.id) ?? 0, program));
  else if (flags.sheet && !hasColumns) throw noColumns(deployment);
  else if (flags.sheet) printer.data(template(deployment).trimEnd());
  else for (const line of described(deployment, flags.fields, program)) printer.data(line);
  const sheet = hasColumns ? templateFile(deployment, flags.sheet) : '<sheet>';
  if (!flags.sheet && hasColumns)
    printer.next(['sheet', `runsheet deployments ${shownName} --sheet > ${sheet}`]);
  const words = `${sheet} -d ${shownName}`;
  printer.next(['plan', `runsheet plan ${words}`], ['run', `runsheet run ${words}`]);
}

const noColumns = ({ name, id, inputTypes }: Deployment): RunsheetError =>
  problem('E602', {
    what: `--sheet has no columns for ${name ?? id}: ${inputTypes === undefined ? 'the service does not describe its inputs' : 'none of its inputs has a name'}`,
    hint: 'leave --sheet out to see what it takes',
  });

/**
 * The name of a template sheet, such as `lights-template.csv`, which no user has by accident: a shell
 * redirect would overwrite an existing file. `isWritten`: the newest existing template.
 */
function templateFile({ name, id }: Deployment, isWritten: boolean): string {
  const letters = (name ?? id).normalize('NFKD').replaceAll(/\p{M}/gu, '');
  const plain = letters.replaceAll(/[^\w.-]+/g, '-').replaceAll(/^[-.]+|-$/g, '');
  const numbered = (number: number): string =>
    `${plain === '' ? 'sheet' : plain}-template${number === 1 ? '' : `-${number}`}.csv`;
  let number = 1;
  while (existsSync(numbered(number))) number += 1;
  return numbered(isWritten ? Math.max(1, number - 1) : number);
}

async function batchesByDeployment(out: string): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { file } of await listBatchFolders(out))
    counts.set(file.deployment.id, (counts.get(file.deployment.id) ?? 0) + 1);
  return counts;
}

/** Prices have a column if at least one is known. */
function listTable(listing: readonly Deployment[]): readonly string[] {
  const isPriced = listing.some(({ price }) => price !== undefined);
  const header = ['DEPLOYMENT', 'GPU', 'TIME LIMIT', ...(isPriced ? ['PRICE'] : []), 'INPUTS'];
  const listed = (deployment: Deployment): readonly string[] => [
    deployment.name ?? deployment.id,
    deployment.gpu ?? 'any',
    limitText(deployment),
    ...(isPriced ? [priceText(deployment) ?? ''] : []),
    deployment.inputTypes === undefined ? 'not described' : inputsText(deployment.inputTypes),
  ];
  return table(header, listing.map(listed));
}

/** undefined if nobody has stated a price: an unknown one is never $0. */
function priceText({ price }: Deployment): string | undefined {
  if (price?.usd === undefined) return price && 'reported after each run';
  const usd = price.usd.toFixed(9).replace(/\.?0+$/, '');
  return `$${usd} for each ${price.per}`;
}

/** Input names; for a workflow, only those that sheets usually fill. */
function inputsText(inputTypes: readonly InputType[]): string {
  const usual = isWorkflow({ inputTypes }) ? new Set(usualColumns(inputTypes)) : undefined;
  const shown = usual === undefined ? inputTypes : inputTypes.filter(({ name }) => usual.has(name));
  const names = shown.map(({ name, required }) => `${name}${required ? '*' : ''}`);
  const more = inputTypes.length - shown.length;
  return [...names, ...(more === 0 ? [] : [`${more} more`])].join(', ') || 'none';
}

const limitText = ({ runTimeoutSeconds: seconds }: Deployment): string =>
  seconds === undefined ? 'unknown' : span(seconds);

/** The words of a command that name the deployment and its service. */
const wordsFor = ({ id, name }: Deployment, isLocal: boolean): string =>
  `${shellWord(name ?? id)}${isLocal ? ' --local' : ''}`;

/** The seats of a program are its servers: `gpu:0`. */
function gpuText({ gpu, servers = [] }: Deployment): string {
  const seats = servers.flatMap(({ url }) => /^gpu:(\d+)$/.exec(url)?.[1] ?? []);
  if (seats.length > 0) return `${seats.map((seat) => `GPU ${seat}`).join(', ')} of this machine`;
  return gpu === undefined ? 'as the rows ask' : `${gpu}; the service may ignore the GPU that a row asks for`;
}

function described(
  deployment: Deployment,
  allFields: boolean,
  program: ShownProgram | undefined,
): readonly string[] {
  const { id, name, concurrencyLimit, inputTypes } = deployment;
  const header = columnsOf(deployment);
  return [
    terminalLine(name === undefined ? id : `${name}  ${id}`),
    terminalLine(`  gpu         ${gpuText(deployment)}`),
    `  at a time   ${concurrencyLimit === undefined ? 'unknown' : plural(concurrencyLimit, 'run')}`,
    `  time limit  ${limitText(deployment)}`,
    ...(deployment.price === undefined ? [] : [`  price       ${priceText(deployment)}`]),
    ...(program === undefined ? [] : programLines(program)),
    '',
    ...(inputTypes === undefined
      ? ['the service does not describe the inputs']
      : isWorkflow(deployment)
        ? workflowTable(inputTypes, allFields)
        : table(INPUT_HEADER, inputTypes.map(inputRow))),
    '',
    ...(header.length > 0 ? [terminalLine(`first line of a sheet: ${stringify([header]).trimEnd()}`)] : []),
  ];
}

const INPUT_HEADER = ['INPUT', 'TYPE', 'DEFAULT', 'VALUES'];

const inputRow = (input: InputType): readonly string[] => [
  input.name,
  input.type,
  input.required ? 'required' : defaultText(input),
  valuesText(input),
];

const defaultText = ({ default: value }: InputType): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

function valuesText({ min, max, options }: InputType): string {
  if (options !== undefined) return options.join(', ');
  if (min !== undefined && max !== undefined) return `${min} to ${max}`;
  if (min !== undefined) return `from ${min}`;
  return max === undefined ? '' : `up to ${max}`;
}

/** Required inputs first, because users may delete the remaining columns. */
const columnsOf = ({ inputTypes = [] }: Deployment): readonly string[] =>
  isWorkflow({ inputTypes })
    ? usualColumns(inputTypes)
    : inputTypes.toSorted((a, b) => Number(b.required) - Number(a.required)).map(({ name }) => name);

function template(deployment: Deployment): string {
  const { inputTypes = [] } = deployment;
  const columns = columnsOf(deployment);
  const defaults = new Map(inputTypes.map((input) => [input.name, defaultText(input)]));
  return stringify([columns, columns.map((name) => defaults.get(name) ?? '')]);
}

const table = (header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] =>
  aligned([header, ...rows].map((row) => row.map(terminalLine)));
