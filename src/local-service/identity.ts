// Ids that are not drawn but derived, so that they stay the same over restarts without being stored.

import { hash } from 'node:crypto';

/** The uuid (version 8: custom) that belongs to these words; the same words always have the same one. */
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

/** What the real service keeps in tables of their own, here all derived from the deployment. */
export type DeploymentIds = {
  readonly workflowId: string;
  readonly versionId: string;
  readonly machineId: string;
};

const known = new Map<string, DeploymentIds>();

/** Remembered, because every answer of Get Run shows them and deployments are few. */
export function idsOf(deploymentId: string): DeploymentIds {
  const old = known.get(deploymentId);
  if (old !== undefined) return old;
  const ids = {
    workflowId: uuidOf('workflow', deploymentId),
    versionId: uuidOf('workflow version', deploymentId),
    machineId: uuidOf('machine', deploymentId),
  };
  known.set(deploymentId, ids);
  return ids;
}

/** `fc-` and 26 letters of the base-32 alphabet, as the real service names the call on a worker. */
export const callIdOf = (runId: string): string =>
  `fc-01${runId.replaceAll('-', '').slice(0, 24).toUpperCase()}`;
