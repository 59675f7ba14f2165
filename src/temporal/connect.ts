// Connects a command to a Temporal server.

import { Connection, type Client, type ConnectionLike } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { problem, errorMessage } from '../errors/error.ts';
import { isRefusedAs } from './client-errors.ts';
import { clientRoute, routeText } from './grpc-proxy.ts';
import { openClient } from './encryption/labelled.ts';
import type { TemporalAddress } from './temporal-address.ts';

const CONNECT_MS = 5_000;

/** A client in plain JavaScript, which a command loads quickly. Throws E401, or E402 for an unknown namespace. */
export async function connectClient(
  at: TemporalAddress,
  dataConverter: DataConverter = {},
): Promise<AsyncDisposable & { client: Client; close(): Promise<void> }> {
  const route = clientRoute(at.address);
  try {
    const connection = await Connection.connect({
      ...at.options,
      ...route,
      connectTimeout: CONNECT_MS,
    });
    await connection.workflowService.describeNamespace({ namespace: at.namespace });
    const client = openClient({ connection, namespace: at.namespace, dataConverter });
    const close = (): Promise<void> => connection.close();
    return { client, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    if (isRefusedAs(error, '5 NOT_FOUND')) throw problem('E402', at, { cause: error });
    const reason = `${errorMessage(error)}${routeText(at.address)}`;
    throw problem('E401', { ...at, reason }, { cause: error });
  }
}

/** The parts of a Temporal client that we use; a program's own version of the SDK may differ. */
export type TemporalClient = {
  readonly connection: ConnectionLike;
  readonly options: { readonly namespace: string };
};

/** Our own client on the connection of a program, because a program's converter differs from that of our workers. */
export const givenClient = (
  { connection, options: { namespace } }: TemporalClient,
  dataConverter: DataConverter,
): Client => openClient({ connection, namespace, dataConverter });
