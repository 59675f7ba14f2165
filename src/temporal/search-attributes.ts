// The search attributes of batches: a worker registers them where the cluster allows it, and a batch starts with them where the
// cluster knows them.

import type { Client, WorkflowStartOptions } from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { runsheetBatch } from '../../workflows/batch-workflow.ts';
import type { Logger } from 'pino';
import { clipped } from '../options/text/clipped.ts';
import { KEYWORD_BYTES, SEARCH_ATTRIBUTES, type SearchedBatch } from '../batch/shown/search-attributes.ts';
import { isRefusedAs, rootOf } from './client-errors.ts';
import { isCloud, type TemporalAddress } from './temporal-address.ts';
import { errorMessage } from '../errors/error.ts';
import type { Config } from '../host/settings/config.ts';
import type { PayloadKeys } from './encryption/payload-keys.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;
const TYPES = {
  KEYWORD: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  INT: IndexedValueType.INDEXED_VALUE_TYPE_INT,
  DOUBLE: IndexedValueType.INDEXED_VALUE_TYPE_DOUBLE,
};
const NAMES = Object.keys(SEARCH_ATTRIBUTES) as readonly (keyof typeof SEARCH_ATTRIBUTES)[];

/** Temporal does not encrypt search attributes, so encryption turns them off unless the settings ask for them. */
export const isSearchWanted = ({ searchAttributes }: Config, { keys }: PayloadKeys): boolean =>
  (searchAttributes ?? (keys.length > 0 ? 'off' : 'on')) === 'on';

type OperatorConnection = Pick<Client['connection'], 'operatorService'>;

async function missing({ operatorService }: OperatorConnection, namespace: string) {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  return NAMES.filter((name) => customAttributes[name] !== TYPES[SEARCH_ATTRIBUTES[name]]);
}

const OPERATOR_NAMES = { KEYWORD: 'Keyword', INT: 'Int', DOUBLE: 'Double' };

/** The command by which an administrator adds the attributes that the namespace lacks; undefined if it has them all. */
export async function attributesCommand(
  client: Client,
  at: Pick<TemporalAddress, 'address' | 'options'>,
): Promise<string | undefined> {
  const { namespace } = client.options;
  const names = await missing(client.connection, namespace);
  if (names.length === 0) return undefined;
  // Temporal Cloud refuses the command of other clusters.
  const [command, added] = isCloud(at)
    ? [`tcld namespace search-attributes add --namespace ${namespace}`, cloudFlag]
    : [`temporal operator search-attribute create --namespace ${namespace}`, operatorFlags];
  return [command, ...names.map((name) => added(name, OPERATOR_NAMES[SEARCH_ATTRIBUTES[name]]))].join(' ');
}

const operatorFlags = (name: string, type: string): string => `--name ${name} --type ${type}`;
const cloudFlag = (name: string, type: string): string => `--sa ${name}=${type}`;

/** Registers the attributes. Never throws: batches also run without them. */
export async function registerSearchAttributes(
  connection: OperatorConnection,
  namespace: string,
  log: Logger,
): Promise<void> {
  try {
    const names = await missing(connection, namespace);
    if (names.length === 0) return;
    const searchAttributes = Object.fromEntries(names.map((name) => [name, TYPES[SEARCH_ATTRIBUTES[name]]]));
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    log.warn(
      { reason: errorMessage(error) },
      'batches have no search attributes; see docs/monitoring.md#search',
    );
  }
}

/** Starts a batch with its search attributes if the server knows all of them. */
export async function startSearchable(
  client: Client,
  search: SearchedBatch | undefined,
  options: WorkflowStartOptions<typeof runsheetBatch>,
): Promise<void> {
  const start = (typedSearchAttributes: SearchAttributePair[]) =>
    client.workflow.start<typeof runsheetBatch>('runsheetBatch', { ...options, typedSearchAttributes });
  const attributes = search === undefined ? [] : await searchAttributesFor(client, search);
  try {
    await start(attributes);
  } catch (error) {
    // Some server of the cluster may not know new attributes yet.
    if (attributes.length === 0 || !isRefusedAs(rootOf(error), '3 INVALID_ARGUMENT')) throw error;
    await start([]);
  }
}

/** The attributes with which a batch starts; none if the server does not know all of them. */
export async function searchAttributesFor(
  client: Client,
  batch: SearchedBatch,
): Promise<SearchAttributePair[]> {
  const unknown = await missing(client.connection, client.options.namespace).catch(() => NAMES);
  if (unknown.length > 0) return [];
  const keyword = (name: string, value: string) => ({
    key: defineSearchAttributeKey(name, 'KEYWORD'),
    value: clipped(value, KEYWORD_BYTES),
  });
  return [
    keyword('RunsheetDeployment', batch.deployment),
    keyword('RunsheetSheet', batch.sheet),
    { key: defineSearchAttributeKey('RunsheetRows', 'INT'), value: batch.rows },
    keyword('RunsheetContent', batch.content),
  ];
}
