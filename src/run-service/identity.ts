// Derives ids from text, so that they survive restarts without being stored.

import { hash } from 'node:crypto';

/** A version 8 (custom) uuid of these words; equal words give equal uuids. */
export function uuidOf(...words: readonly string[]): string {
  const hex = hash('sha256', words.join('\n'));
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** Ids that the real service stores in separate tables and that are derived from the deployment here. */
export type DeploymentIds = {
  readonly workflowId: string;
  readonly versionId: string;
  readonly machineId: string;
};

const idsByDeployment = new Map<string, DeploymentIds>();

/** Cached, because every answer of Get Run contains them and deployments are few. */
export function idsOf(deploymentId: string): DeploymentIds {
  const old = idsByDeployment.get(deploymentId);
  if (old !== undefined) return old;
  const ids = {
    workflowId: uuidOf('workflow', deploymentId),
    versionId: uuidOf('workflow version', deploymentId),
    machineId: uuidOf('machine', deploymentId),
  };
  idsByDeployment.set(deploymentId, ids);
  return ids;
}

/** `fc-` and 26 base-32 letters, like the call ids of the real service. */
export const callIdOf = (runId: string): string =>
  `fc-01${runId.replaceAll('-', '').slice(0, 24).toUpperCase()}`;
