// The stored kind to which each column of the service's database belongs.

/** The tables of the database, and which kind has their columns. */
export const COLUMNS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  run: {
    run: [
      'number',
      'id',
      'deploymentId',
      'place',
      'inputs',
      'gpu',
      'webhook',
      'intermediate',
      'createdMs',
      'owner',
      'faults',
      'servers',
      'timeLimitMs',
    ],
    'progress of a run': [
      'status',
      'updatedMs',
      'endedMs',
      'containerId',
      'queuedMs',
      'startedMs',
      'lostMs',
      'lostRuns',
    ],
    'run.state of own GPUs': ['state'],
  },
  delivery: { delivery: ['run', 'atMs', 'method', 'outcome', 'tookMs', 'body'] },
  upload: { upload: ['id', 'owner', 'name', 'type', 'bytes', 'uploadedMs'] },
  server: { server: ['url', 'kind', 'gpu', 'headersFile', 'seats'] },
  serverName: { 'other address of a server': ['name', 'url'] },
  workflow: { workflow: ['id', 'json', 'place'] },
  service: { 'id of the service': ['id'] },
};
