// Checks the stages of a pipeline before any of them runs: columns and inputs that a stage takes from the
// one before must exist, as far as that is knowable without results.

import { openServices } from '../../service-client/open-services.ts';
import { openTransport } from '../../host/http/transport.ts';
import type { Deployment } from '../../service-client/contract/deployment.ts';
import { checkRequest, checkSettings } from '../../batches/batch-spec.ts';
import { findDeployment } from '../../batches/find-deployment.ts';
import { sourceColumns, whereColumns, type SourceBatch } from '../../batches/from/source-rows.ts';
import type { StageDefinition } from '../../batches/pipeline/pipeline-folder.ts';
import { hintAmong, problem } from '../../errors/error.ts';
import { inputNamed, nearestInput } from '../../sheet/named-inputs.ts';
import { parseWhere } from '../../sheet/where/where.ts';
import type { Servers } from '../servers.ts';
import { requestOfStage, type AskedPipeline } from './started-pipeline.ts';

export type { SourceBatch };

/** `isOpen`: picks may add columns that are unknown here. */
type StageShape = SourceBatch & { readonly isOpen?: boolean };

type Checking = {
  readonly servers: Servers;
  /** Existing batches by stage; they keep their settings. */
  readonly made: ReadonlyMap<string, unknown>;
  /** A plan starts no servers, so it checks no pools. */
  readonly isPlan?: boolean;
};

/**
 * `sources`: batches and drafts of stages with their own sheet. Throws E302 for an unknown deployment, E540
 * for an unknown pool, and E602 for invalid settings and for columns and inputs that do not exist.
 */
export async function checkStages(
  { servers, made, isPlan = false }: Checking,
  { pipeline, stages }: AskedPipeline,
  sources: ReadonlyMap<string, SourceBatch>,
): Promise<void> {
  for (const stage of stages) {
    if (made.has(stage.name)) continue;
    const request = requestOfStage(pipeline, stage);
    checkRequest(request);
    const around = servers.around(request.service);
    await checkSettings(request.settings, { ...around, ...(!isPlan && { reach: around.servers }) });
  }
  const shapes = new Map<string, StageShape>(sources);
  const left = new Set(stages);
  while (left.size > 0) {
    const next = [...left].find(({ from }) => from === undefined || shapes.has(from));
    if (next === undefined) return;
    left.delete(next);
    if (next.from === undefined) continue;
    const deployment = await deploymentOf(servers, next);
    const source = shapes.get(next.from) as StageShape;
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

/** The columns and inputs of the batch that the stage will make. */
function checked(
  { name, from = '', pick, request: { options } }: StageDefinition,
  source: StageShape,
  { inputTypes }: Deployment,
): StageShape {
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
        inputTypes.map((inputType) => inputType.name),
        nearestInput(input, inputTypes),
      );
  if (where !== undefined && !isOpen) parseWhere(where, whereColumns(columns));
  const inputs = [...Object.keys(set), ...Object.keys(grid)].map((input) => ({ input, from: { value: '' } }));
  return { sheet: { columns: columns.all, inputs }, from, isOpen };
}

const noName = (what: string, wrong: string, names: readonly string[], near?: string) =>
  problem('E602', { what, hint: hintAmong(wrong, 'there are', names, near === undefined ? {} : { near }) });
