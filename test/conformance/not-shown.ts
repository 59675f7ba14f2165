// Lists what the specification explicitly leaves open, what we chose, and why; and its statements that no case can test.

export type NotShown = {
  readonly chapter: string;
  readonly what: string;
  readonly choice: string;
  readonly why: string;
};

const LIKE_THE_REAL = "it is what the real service's published source does";

export const NOT_SHOWN: readonly NotShown[] = [
  {
    chapter: 'What the service does',
    what: 'definitions of deployment, workflow and machine',
    choice:
      'a deployment is a name, a machine with a GPU and a workflow of its own; a run is one execution of it in a container',
    why: 'clients only ever name a deployment; one workflow for each keeps both run lists easy to understand',
  },
  {
    chapter: 'What the service does',
    what: 'the meaning of each field beyond its name',
    choice: 'each field holds what the rules "Real service: Get Run" and "Real service: run states" say',
    why: LIKE_THE_REAL,
  },
  {
    chapter: 'Run',
    what: 'which fields are always present or may be empty',
    choice:
      'all fields are always there; null are the times, durations and the call before their moment, `live_status` before the first node, `webhook` where none was given, `org_id` and `webhook_status` always',
    why: 'a client can then read every field by its name; where null stands is as in the real service',
  },
  {
    chapter: 'Run',
    what: 'the units of the numeric fields',
    choice: 'durations in seconds with decimals, `progress` from 0 to 1 with two decimals, `number` always 0',
    why: LIKE_THE_REAL,
  },
  {
    chapter: 'Run',
    what: 'the element shape of outputs',
    choice:
      '`{id, run_id, data, node_meta, created_at, updated_at, type, node_id}`; `data` maps a key to a list of files `{url, filename, type}` or texts',
    why: "it is the real service's, and the vendor's own clients refuse any other",
  },
  {
    chapter: 'Run',
    what: 'the allowed values of origin',
    choice: '`api`',
    why: 'runs are queued through the interface and in no other way here',
  },
  {
    chapter: 'Run',
    what: 'the allowed values of machine_type',
    choice: '`comfy-deploy-serverless`, out of the six of the real service',
    why: "machines that the service hosts itself are called so; that is what the specification's migration rule 3 speaks of",
  },
  {
    chapter: 'Run',
    what: 'the meaning of machine_version',
    choice:
      'the version of the node component on the machine, `v2.3.10` unless the deployment says otherwise',
    why: 'the real service never writes it, and migration rule 2 could not be rehearsed without it',
  },
  {
    chapter: 'Run',
    what: 'the allowed values of webhook_status',
    choice: 'null',
    why: 'the real service has the field and never writes it',
  },
  {
    chapter: 'States and transitions',
    what: 'the allowed values of status',
    choice:
      'not-started, queued, started, running, uploading, success, failed, timeout, cancelled; the last four are ends and stay',
    why: LIKE_THE_REAL,
  },
  {
    chapter: 'States and transitions',
    what: 'the allowed values of live_status',
    choice: 'null, then `Executing` and the node',
    why: LIKE_THE_REAL,
  },
  {
    chapter: 'States and transitions',
    what: 'every transition between them',
    choice:
      'not-started, queued (a container has it and boots), started, running, then an end; a cancellation or a time-out ends it from anywhere',
    why: LIKE_THE_REAL,
  },
  {
    chapter: 'Queue Run',
    what: 'the success status code of both endpoints',
    choice: '200',
    why: LIKE_THE_REAL,
  },
  {
    chapter: 'Queue Run',
    what: 'the full set of allowed flag values',
    choice: 'any text is a flag, and none changes anything',
    why: 'the real service reads none of them today; refusing unknown ones would refuse a migration check of another provider',
  },
  {
    chapter: 'Authentication',
    what: 'how a token is obtained, its lifetime and its scopes',
    choice:
      'tokens are given when the service is started, each with an owner; they live until they are revoked, and an owner sees its own runs only',
    why: 'a rehearsal needs no dashboard; keys of the real service do not expire, and are not scoped either',
  },
  {
    chapter: 'Events',
    what: 'webhook delivery rules',
    choice:
      'one call for each change of status, unsigned, three tries 0.5 s and 1 s apart of which the last two are GETs with the same body, any answer below 400 is taken',
    why: `${LIKE_THE_REAL}, its quirk included: a receiver that cannot live with it should fail here and not there`,
  },
  {
    chapter: 'Events',
    what: 'event kinds',
    choice: '`run.updated`; with webhook_intermediate_status also for progress within `running`',
    why: LIKE_THE_REAL,
  },
  {
    chapter: 'Events',
    what: 'payload shapes',
    choice: 'the six keys event_type, status, live_status, progress, run_id, outputs',
    why: LIKE_THE_REAL,
  },
  {
    chapter: 'Errors',
    what: 'status codes',
    choice: '422 for a validation failure, 404 and 405 for what is not there',
    why: LIKE_THE_REAL,
  },
  {
    chapter: 'Errors',
    what: 'an unknown run',
    choice: '404 with `{"detail": "Run not found"}`; 403 for the run of another owner',
    why: LIKE_THE_REAL,
  },
  {
    chapter: 'Errors',
    what: 'an authentication failure',
    choice: '401 with a sentence as detail, before the body is read',
    why: LIKE_THE_REAL,
  },
  {
    chapter: 'Limits',
    what: 'rate limits',
    choice: 'none, unless the fault `busy` is switched on: 429 with Retry-After',
    why: 'the published source has none; a client must be able to rehearse them all the same',
  },
  {
    chapter: 'Limits',
    what: 'size limits',
    choice: 'a body of at most 16 MiB',
    why: 'one must not fill the memory of a laptop; no workflow has so many inputs',
  },
  {
    chapter: 'Limits',
    what: 'timeouts',
    choice: 'a run may take 300 s from `queued` on, unless its deployment says otherwise',
    why: LIKE_THE_REAL,
  },
  {
    chapter: 'Limits',
    what: 'quotas',
    choice: 'two containers for each deployment, unless it says otherwise; any number of runs may wait',
    why: LIKE_THE_REAL,
  },
  {
    chapter: 'Versioning',
    what: 'what V1 answers, and its errors',
    choice: 'the record without what V2 added; 400, 401 and 500 in shapes of their own',
    why: LIKE_THE_REAL,
  },
  {
    chapter: 'Versioning',
    what: 'the year of April 15',
    choice: 'V1 works on',
    why: 'a rehearsal of a migration needs both',
  },
];

export type Beyond = { readonly chapter: string; readonly text: string; readonly why: string };

export const BEYOND: readonly Beyond[] = [
  {
    chapter: 'Queue Run',
    text: 'flags has no default',
    why: 'no answer shows the flags of a run; that none are needed is pinned by `flags.optional`',
  },
  {
    chapter: 'Versioning, rule 1',
    text: 'clients replace the base address',
    why: 'the client does; the service can only serve both, see `versions.base` and `migration.1`',
  },
  {
    chapter: 'Versioning, rule 3',
    text: 'users of hosted machines need no further change',
    why: 'it is about users; `runsheet migrate-check` reports it to them',
  },
  {
    chapter: 'Versioning, rule 4',
    text: 'users of a third-party GPU provider update their worker image',
    why: 'it is about users',
  },
  {
    chapter: 'Versioning, rule 6',
    text: 'all V1 users of that provider are to be migrated; old nodes stop after April 15',
    why: 'it is about users and of a provider',
  },
  {
    chapter: 'Versioning, rule 7',
    text: 'client SDKs are to be updated',
    why: "it is about clients; `test/foreign-clients` runs the vendor's",
  },
  {
    chapter: 'Versioning',
    text: 'V2 adds performance, session editing, a Python API and private buckets',
    why: 'no field and no endpoint of this interface shows any of it',
  },
];
