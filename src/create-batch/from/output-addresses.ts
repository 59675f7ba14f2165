// The addresses of the files of a batch: they are uploaded, or if the service takes no files, they are the addresses of the outputs.

import { problem } from '../../errors/error.ts';
import type { RememberingService } from '../../run-service/remembering.ts';
import type { BatchFolder } from '../../store/batch-folders.ts';
import { FileAddresses } from '../files/file-addresses.ts';
import type { UploadMemory } from '../files/upload-memory.ts';
import type { WantedFile } from './source-rows.ts';

type OutputParams = {
  readonly found: BatchFolder;
  readonly service: Pick<RememberingService, 'sendFile' | 'getRun'>;
  readonly memory: UploadMemory;
  readonly deadlineAt: number | undefined;
};

/** Throw E504 for a file that has changed, and E555 if it has no address. */
export function outputAddresses({ found, ...params }: OutputParams): FileAddresses<WantedFile> {
  const { store } = found;
  return new FileAddresses({
    ...params,
    open: ({ path }) => store.open(path) as AsyncIterable<Uint8Array>,
    changed: ({ path }, gone) =>
      gone === undefined
        ? problem('E504', { what: `${store.location}/${path} is not the file that its run made` })
        : problem('E504', { what: `${store.location} has no ${path} any more` }, { cause: gone }),
    atService: (file) => atService(found, params.service, file),
  });
}

async function atService(
  { batch }: BatchFolder,
  service: Pick<RememberingService, 'getRun'>,
  { path, run, nth }: WantedFile,
): Promise<string> {
  const file = `the file ${path} of batch ${batch}`;
  const own = 'the run service takes no files';
  if (run === '')
    throw problem('E555', { file, why: `${own}, and another batch bought the run that made it` });
  const outputs = (await service.getRun(run))?.outputs.flatMap(({ files }) => files);
  const address = outputs?.[nth - 1]?.url;
  if (address === undefined)
    throw problem('E555', { file, why: `${own}, and no longer shows the run ${run} that made it` });
  return address;
}
