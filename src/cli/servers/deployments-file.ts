// The deployments file of `runsheet service`, with the files that it names. Relative paths lead from its folder.

import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { problem } from '../../errors/error.ts';
import { fileFault } from '../../errors/file-fault.ts';
import type { Config } from '../../host/settings/config.ts';
import type { GivenGpus } from '../../library/register-own-gpus.ts';
import { isVendor, vendorFacts, type Vendor } from '../../options/facts/server-kind.ts';
import { readDeployments, type DeploymentsFile } from '../../run-service/server.ts';
import { workflowText } from '../flags/workflow-file.ts';

export type OwnDeployments = Required<Pick<GivenGpus, 'workflows' | 'programs' | 'models'>> &
  Pick<GivenGpus, 'gpus'>;

/** `simulated` is absent without a file. */
export function deploymentsIn(
  file: string | undefined,
  environment: Config['environment'],
): Partial<Pick<DeploymentsFile, 'simulated'>> & OwnDeployments {
  if (file === undefined) return { workflows: [], programs: [], models: [] };
  try {
    const { simulated, workflows, programs, models } = readDeployments(readFileSync(file, 'utf8'));
    const folder = dirname(resolve(file));
    const read = workflows.map(({ workflow, ...entry }) => {
      const path = resolve(dirname(file), workflow);
      return { ...entry, ...workflowText(path, `the deployment ${entry.name} needs a file`) };
    });
    const named = { workflows: read, models: modelsOf(models, folder, environment) };
    return { simulated, ...named, ...programsOf(programs, folder) };
  } catch (error) {
    throw fileFault(error, { path: file, hint: '--deployments needs a JSON file of deployments' }) ?? error;
  }
}

function programsOf(
  programs: DeploymentsFile['programs'],
  folder: string,
): Required<Pick<GivenGpus, 'programs'>> & Pick<GivenGpus, 'gpus'> {
  const gpus = programs.flatMap((entry) => entry.gpus?.map(String) ?? []);
  return {
    programs: programs.map(({ name, program, stays, inputs, env, runTimeoutSeconds }) => ({
      name,
      command: program,
      ...(stays !== undefined && { stays }),
      folder,
      ...(inputs !== undefined && { inputsFile: resolve(folder, inputs) }),
      ...(env !== undefined && { secrets: env }),
      ...(runTimeoutSeconds !== undefined && { runTimeoutSeconds }),
    })),
    // An entry without a list asks for all GPUs.
    ...(programs.every((entry) => entry.gpus !== undefined) &&
      gpus.length > 0 && { gpus: [...new Set(gpus)] }),
  };
}

/** Throws E602 if nothing names the key of a vendor. A service has one account at each vendor. */
function modelsOf(
  models: DeploymentsFile['models'],
  folder: string,
  environment: Config['environment'],
): OwnDeployments['models'] {
  const keyFiles = new Map<Vendor, string>();
  for (const { name, vendor, keyFile } of models) {
    if (keyFile === undefined || !isVendor(vendor)) continue;
    const path = resolve(folder, keyFile);
    if ((keyFiles.get(vendor) ?? path) !== path)
      throw problem('E602', {
        what: `the deployment ${name} has a different keyFile from the ${vendor} deployment before it`,
        hint: `name one file for all models of ${vendor}, or start a service for each account`,
      });
    keyFiles.set(vendor, path);
  }
  return models.map((entry) => {
    const { name, vendor, model, price, keyFile: ownKeyFile, runTimeoutSeconds } = entry;
    const keyFile = isVendor(vendor) ? keyFiles.get(vendor) : ownKeyFile && resolve(folder, ownKeyFile);
    const variable = vendorFacts(vendor)?.variable;
    if (keyFile === undefined && variable !== undefined && !environment[variable])
      throw problem('E602', {
        what: `the deployment ${name} needs your key at ${vendor}`,
        hint: `set ${variable} where the service starts; or write the key alone into a file, and name it in the entry: "keyFile": "key.txt"`,
      });
    return {
      name,
      vendor,
      model,
      ...(price && { price }),
      ...(keyFile !== undefined && { keyFile }),
      ...taskFilesOf(entry, folder),
      ...(runTimeoutSeconds !== undefined && { runTimeoutSeconds }),
    };
  });
}

/** The inputs of a model are a JSON Schema file, and those of a workflow are names for its fields. */
function taskFilesOf(
  entry: DeploymentsFile['models'][number],
  folder: string,
): Pick<OwnDeployments['models'][number], 'workflow' | 'inputsFile'> {
  const { name, inputs } = entry;
  if (!('workflow' in entry))
    return typeof inputs === 'string' ? { inputsFile: resolve(folder, inputs) } : {};
  const text = workflowText(resolve(folder, entry.workflow), `the deployment ${name} needs a file`);
  return { workflow: { name, ...text, ...(typeof inputs === 'object' && { inputs }) } };
}
