// Connects to Temporal by its standard settings (`TEMPORAL_*` and profiles, as for the temporal command).

import { setTimeout as wait } from 'node:timers/promises';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection } from '@temporalio/worker';
import { Client, Connection, isGrpcServiceError } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { problem, errorMessage } from '../errors/error.ts';

/** The address of a Temporal server. */
export type TemporalAddress = {
  readonly address: string;
  readonly namespace: string;
  /** Which setting the address comes from, for messages. */
  readonly from: string;
  readonly options: ReturnType<typeof loadClientConnectConfig>['connectionOptions'];
};

/** undefined if no setting names a server; then the embedded one is used. */
export function temporalFrom(
  environment: Readonly<Record<string, string | undefined>>,
): TemporalAddress | undefined {
  const { connectionOptions, namespace } = loadClientConnectConfig({
    overrideEnvVars: definedOnly(environment),
  });
  const { address, ...options } = connectionOptions;
  if (!address) return undefined;
  return {
    address,
    namespace: namespace ?? 'default',
    from: environment['TEMPORAL_ADDRESS'] ? 'TEMPORAL_ADDRESS' : 'the Temporal profile',
    options,
  };
}

const definedOnly = (environment: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );

const CONNECT_MS = 5_000;
const ASK_AGAIN_MS = 50;

// Compression costs more than it saves on a local connection.
const compression = (address: string) =>
  /^(127\.|localhost|\[::1\])/.test(address) ? ({ grpcCompression: { codec: 'none' } } as const) : {};

/** A client in plain JavaScript, which a command loads quickly. Throws E401, or E402 for an unknown namespace. */
export async function connectClient(
  at: TemporalAddress,
  dataConverter: DataConverter = {},
): Promise<{ client: Client; close(): Promise<void> }> {
  try {
    const connection = await Connection.connect({
      address: at.address,
      connectTimeout: CONNECT_MS,
      ...at.options,
    });
    await connection.workflowService.describeNamespace({ namespace: at.namespace });
    const client = new Client({ connection, namespace: at.namespace, dataConverter });
    return { client, close: () => connection.close() };
  } catch (error) {
    if (isGrpcServiceError(error) && error.message.startsWith('5 NOT_FOUND'))
      throw problem('E402', at, { cause: error });
    throw problem(
      'E401',
      { address: at.address, from: at.from, reason: errorMessage(error) },
      { cause: error },
    );
  }
}

/** A worker's connection, shared with its client. Throws E401 if the server does not answer within `patienceMs`. */
export async function connectWorker(
  at: TemporalAddress,
  patienceMs: number,
  dataConverter: DataConverter,
): Promise<{ connection: NativeConnection; client: Client }> {
  const options = { address: at.address, ...compression(at.address), ...at.options };
  for (const until = Date.now() + patienceMs; ;) {
    try {
      const connection = await NativeConnection.connect(options);
      return { connection, client: new Client({ connection, namespace: at.namespace, dataConverter }) };
    } catch (error) {
      const { address, from } = at;
      if (Date.now() >= until)
        throw problem('E401', { address, from, reason: errorMessage(error) }, { cause: error });
      await wait(ASK_AGAIN_MS);
    }
  }
}
