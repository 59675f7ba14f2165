// Finds a batch of the same sheet on an earlier version of its deployment: the workflow file was edited, or the deployment was
// recreated. Its rows are different requests, so no other check notices that every row would run again.

import { openServices } from '../../service-client/open-services.ts';
import type { Deployment } from '../../service-client/contract/deployment.ts';
import { openTransport } from '../../host/http/transport.ts';
import type { Config } from '../../host/settings/config.ts';
import { isSameService } from '../../host/service-address.ts';
import { listBatchFolders } from '../../store/batch-folders.ts';
import type { CreateParams } from '../draft-stages.ts';
import type { ChangedDeployment } from '../questions.ts';

const MAX_CHANGES = 5;

/** The newest such batch, if any. */
export async function changedBefore(
  config: Config,
  {
    copy,
    from,
    deployment,
    service,
    out,
  }: Pick<CreateParams, 'copy' | 'from' | 'deployment' | 'service' | 'out'>,
): Promise<ChangedDeployment | undefined> {
  const { id, name } = deployment;
  if (name === undefined) return undefined;
  const before = (await listBatchFolders(out)).find(
    ({ file }) =>
      isSameService(file.service, service) &&
      file.deployment.name === name &&
      file.deployment.id !== id &&
      // The copy of a sheet made from results has the addresses of its files only once they are uploaded.
      (from === undefined ? file.sheet.sha256 === copy.sha256 : file.from?.request === from.request),
  );
  if (before === undefined) return undefined;
  const { batch, file } = before;
  // The service may have deleted the earlier version.
  const earlier = await openServices(config, openTransport(1))
    .at({ base: service.base, api: service.api })
    .getDeployment(file.deployment.id)
    .catch(() => undefined);
  return {
    deployment: name,
    sheet: copy.name,
    batch,
    rows: file.sheet.rows,
    changes: earlier === undefined ? [] : changesOf(earlier, deployment).slice(0, MAX_CHANGES),
  };
}

/** `5.steps 20 → 30`: inputs that were added, removed or given another default. */
function changesOf({ inputTypes: before = [] }: Deployment, { inputTypes: after = [] }: Deployment) {
  const [was, is] = [before, after].map(
    (types) => new Map(types.map((type) => [type.name, textOf(type.default)])),
  ) as [Map<string, string>, Map<string, string>];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((input) => {
    const [old, now] = [was.get(input), is.get(input)];
    if (old === now) return [];
    return [
      old === undefined
        ? `${input} is new`
        : now === undefined
          ? `${input} is gone`
          : `${input} ${old} → ${now}`,
    ];
  });
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'));
