// Finds Temporal by its standard settings (`TEMPORAL_*` and profiles, as for the temporal command). This file
// connects to nothing, so a command that needs no server does not load the client.

import type { ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

export type TemporalAddress = {
  readonly address: string;
  readonly namespace: string;
  /** The setting that the address comes from, for messages. */
  readonly from: string;
  /** Temporal's own settings, without the type of their package, which would put the worker package into our types. */
  readonly options: Pick<ConnectionOptions, 'tls' | 'metadata'> & { readonly apiKey?: string };
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

/** Whether the address is Temporal Cloud's; over a private network, the name in the certificate shows it. */
export const isCloud = ({ address, options }: Pick<TemporalAddress, 'address' | 'options'>): boolean =>
  [address.replace(/:\d+$/, ''), serverNameIn(options)].some((host) =>
    /\.(?:tmprl\.cloud|api\.temporal\.io)$/.test(host),
  );

const serverNameIn = ({ tls }: TemporalAddress['options']): string =>
  (typeof tls === 'object' && tls?.serverNameOverride) || '';

/** Counts an empty variable as none, as containers pass it; an empty address also hides that of a profile. */
const definedOnly = (environment: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).filter(
      (pair): pair is [string, string] =>
        pair[1] !== undefined && (pair[1] !== '' || !/^TEMPORAL_(?!ADDRESS$)/.test(pair[0])),
    ),
  );
