// Counts downloads without changing them.

import { FileFault, HostFault } from '../run-service/file-faults.ts';
import type { Download } from '../run-service/download.ts';
import type { DownloadResult, Meters } from './meters.ts';

export function meteredDownload(
  download: Download,
  meters: Pick<Meters, 'downloadEnded' | 'bytesArrived'>,
): Download {
  return async (url, wanted) => {
    const startedAt = performance.now();
    const ended = (result: DownloadResult): void =>
      meters.downloadEnded(result, (performance.now() - startedAt) / 1000);
    try {
      const arriving = await download(url, wanted);
      return { ...arriving, chunks: counted(arriving.chunks, meters, ended) };
    } catch (error) {
      ended(resultOf(error));
      throw error;
    }
  };
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  { bytesArrived }: Pick<Meters, 'bytesArrived'>,
  ended: (result: DownloadResult) => void,
): AsyncGenerator<Uint8Array> {
  // A reader that stops early closes this generator, which then ends without an error.
  let result: DownloadResult = 'stopped';
  try {
    for await (const chunk of chunks) {
      bytesArrived(chunk.byteLength);
      yield chunk;
    }
    result = 'complete';
  } catch (error) {
    result = resultOf(error);
    throw error;
  } finally {
    ended(result);
  }
}

function resultOf(error: unknown): DownloadResult {
  if (error instanceof FileFault) return 'file';
  return error instanceof HostFault ? 'host' : 'stopped';
}
