// The processes that are killed.

const VICTIMS = {
  worker: 'one worker; on a cluster, the other one continues',
  workers: 'all workers',
  receiver: 'the receiver of the webhooks (cluster only)',
  Temporal: 'the Temporal server',
  servers: 'the parent of the embedded servers (embedded only)',
  command: 'the command alone',
  machine: 'all of our processes at the same time',
  'run service': 'the run service, every second time with the gateway before it',
} as const;
export type Victim = keyof typeof VICTIMS;
