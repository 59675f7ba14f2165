// The kinds of servers that run tasks: a ComfyUI, a Comfy API, a GPU of this machine for programs, a Cog container, and vendors
// of hosted models.

export const VENDORS = ['replicate', 'router', 'runpod', 'fal'] as const;
export type Vendor = (typeof VENDORS)[number];

type VendorFacts = {
  readonly url: string;
  /** The variable that its own programs read the key from. */
  readonly variable: string;
  /** The scheme of the key's header. */
  readonly scheme: 'Bearer' | 'Key';
  /** How long the vendor keeps files. */
  readonly keeps: string;
  /** How a run is found whose answer was lost: by the list of runs, by repeating the request's key, or by a webhook only. */
  readonly reveals: 'list' | 'key' | 'webhook';
  /** Only a request to an endpoint of the user shows whether a key is accepted. */
  readonly checksKeyAt?: 'endpoint';
  /** The beginning of the headers that sign its webhooks. */
  readonly webhookHeaders?: string;
  /** Whether it runs a workflow of ComfyUI in a container of the user. */
  readonly runsWorkflows?: true;
  /** Whether it reports the cost of a run at its end, which counts whatever price is stated. */
  readonly reportsCost?: true;
};

export const VENDOR_FACTS = {
  replicate: {
    url: 'https://api.replicate.com',
    variable: 'REPLICATE_API_TOKEN',
    scheme: 'Bearer',
    keeps: 'an hour',
    reveals: 'list',
  },
  router: {
    url: 'https://api.comfy.org',
    variable: 'COMFY_API_KEY',
    scheme: 'Bearer',
    keeps: 'about a day',
    reveals: 'key',
    reportsCost: true,
  },
  runpod: {
    url: 'https://api.runpod.ai',
    variable: 'RUNPOD_API_KEY',
    scheme: 'Bearer',
    keeps: 'half an hour',
    reveals: 'webhook',
    checksKeyAt: 'endpoint',
    runsWorkflows: true,
  },
  fal: {
    url: 'https://queue.fal.run',
    variable: 'FAL_KEY',
    scheme: 'Key',
    keeps: '30 days',
    reveals: 'webhook',
    webhookHeaders: 'x-fal-webhook-',
  },
} as const satisfies Readonly<Record<Vendor, VendorFacts>>;

export const isVendor = (text: string): text is Vendor => VENDORS.some((vendor) => vendor === text);

/** The facts of a vendor; undefined for any other kind of server. */
export const vendorFacts = (kind: string): VendorFacts | undefined =>
  isVendor(kind) ? VENDOR_FACTS[kind] : undefined;

export const WORKFLOW_VENDORS: readonly Vendor[] = VENDORS.filter(
  (vendor) => vendorFacts(vendor)?.runsWorkflows,
);

/** The hosts of models: vendors, and Cog containers of one's own, which are named by their address and cost nothing. */
export const MODEL_HOSTS = [...VENDORS, 'cog'] as const;
export type ModelHost = (typeof MODEL_HOSTS)[number];

export const isModelHost = (text: string): text is ModelHost => MODEL_HOSTS.some((host) => host === text);

export const SERVER_KINDS = ['comfyui', 'comfy-api', 'gpu', ...MODEL_HOSTS] as const;

export type ServerKind = (typeof SERVER_KINDS)[number];
