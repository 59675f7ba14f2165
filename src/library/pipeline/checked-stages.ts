// Checks the stages of a pipeline before any of them runs: what a stage takes from the one before has to be there, as far as that can be
// known while that one has no results.

import { openServices } from '../../run-service/open-services.ts';
import { openTransport } from '../../run-service/transport.ts';
import type { Deployment } from '../../run-service/contract/deployment.ts';
import { checkRequest, checkSettings } from '../../create-batch/batch-spec.ts';
import { findDeployment } from '../../create-batch/find-deployment.ts';
import { sourceColumns, whereColumns, type SourceBatch } from '../../create-batch/from/source-rows.ts';
import type { StageDefinition } from '../../create-batch/pipeline/pipeline-folder.ts';
import { hintAmong, problem } from '../../errors/error.ts';
import { inputNamed, nearestInput } from '../../sheet/named-inputs.ts';
import { parseWhere } from '../../sheet/where/where.ts';
import type { Servers } from '../servers.ts';
import { requestOfStage, type AskedPipeline } from './started-pipeline.ts';

export type { SourceBatch };

/** `isOpen`: picks may add columns that only they name. */
type Shape = SourceBatch & { readonly isOpen?: boolean };

type Checking = {
  readonly servers: Servers;
  /** By stage: batches keep what they were made with. */
  readonly made: ReadonlyMap<string, unknown>;
  /** A plan starts no servers to look for pools. */
  readonly isPlan?: boolean;
};

/**
 * `known`: batches and drafts of stages with a sheet of their own. Throws E302 for a deployment that the service does not have, E540 for a pool
 * that does not exist, and E602 for settings that no batch may have, and for a column or an input that a stage names and that is not there.
 */
export async function checkStages(
  { servers, made, isPlan = false }: Checking,
  { pipeline, stages }: AskedPipeline,
  known: ReadonlyMap<string, SourceBatch>,
): Promise<void> {
  for (const stage of stages) {
    if (made.has(stage.name)) continue;
    const request = requestOfStage(pipeline, stage);
    checkRequest(request);
    const around = servers.around(request.service);
    await checkSettings(request.settings, { ...around, ...(!isPlan && { reach: around.servers }) });
  }
  const shapes = new Map<string, Shape>(known);
  const left = new Set(stages);
  while (left.size > 0) {
    const next = [...left].find(({ from }) => from === undefined || shapes.has(from));
    if (next === undefined) return;
    left.delete(next);
    if (next.from === undefined) continue;
    const deployment = await deploymentOf(servers, next);
    const source = shapes.get(next.from) as Shape;
    shapes.set(next.name, checked(next, source, deployment));
  }
}

async function deploymentOf(
  servers: Servers,
  { request: { service, deployment } }: StageDefinition,
): Promise<Deployment> {
  if (service.base === 'local') await servers.look(true);
  return findDeployment(openServices(servers.config, openTransport(1)).at(service), deployment);
}

/** The shape of the batch that the stage will be. */
function checked(
  { name, from = '', pick, request: { options } }: StageDefinition,
  source: Shape,
  { inputTypes }: Deployment,
): Shape {
  const columns = sourceColumns(source);
  const isOpen = pick || source.isOpen === true;
  const { map, set, gpuColumn, keyColumn, where, grid = {} } = options;
  for (const column of [...Object.values(map), gpuColumn, keyColumn])
    if (column !== undefined && !isOpen && !columns.all.includes(column))
      throw noName(
        `stage ${name} takes the column ${column}, which the results of ${from} do not have`,
        column,
        columns.all,
      );
  for (const input of [...Object.keys(map), ...Object.keys(set), ...Object.keys(grid)])
    if (inputTypes !== undefined && inputNamed(inputTypes, input) === undefined)
      throw noName(
        `stage ${name} gives the input ${input}, which its deployment does not have`,
        input,
        inputTypes.map((one) => one.name),
        nearestInput(input, inputTypes),
      );
  if (where !== undefined && !isOpen) parseWhere(where, whereColumns(columns));
  const given = [...Object.keys(set), ...Object.keys(grid)].map((input) => ({ input, from: { value: '' } }));
  return { sheet: { columns: columns.all, inputs: given }, from, isOpen };
}

const noName = (what: string, wrong: string, known: readonly string[], near?: string) =>
  problem('E602', { what, hint: hintAmong(wrong, 'there are', known, { near }) });
