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
  /** How long it keeps files. */
  readonly keeps?: string;
};

export const VENDOR_FACTS: Readonly<Record<Vendor, VendorFacts>> = {
  replicate: {
    url: 'https://api.replicate.com',
    variable: 'REPLICATE_API_TOKEN',
    scheme: 'Bearer',
    keeps: 'an hour',
  },
  router: { url: 'https://api.comfy.org', variable: 'COMFY_API_KEY', scheme: 'Bearer', keeps: 'about a day' },
  runpod: {
    url: 'https://api.runpod.ai',
    variable: 'RUNPOD_API_KEY',
    scheme: 'Bearer',
    keeps: 'half an hour',
  },
  fal: { url: 'https://queue.fal.run', variable: 'FAL_KEY', scheme: 'Key', keeps: '30 days' },
};

/** The vendors that reveal a run whose answer was lost at a public address only. */
export const TELLING_VENDORS: readonly string[] = ['runpod', 'fal'] satisfies Vendor[];

/** The vendors that run a workflow of ComfyUI in a container of the user. */
export const WORKFLOW_VENDORS: readonly string[] = ['runpod'] satisfies Vendor[];

/** The vendors that tell the cost of a run at its end, which counts whatever price is stated. */
export const COST_TELLING_VENDORS: readonly string[] = ['router'] satisfies Vendor[];

export const isVendor = (text: string): text is Vendor => VENDORS.some((vendor) => vendor === text);

/** The hosts of models: vendors, and Cog containers of one's own, which are named by their address and cost nothing. */
export const MODEL_HOSTS = [...VENDORS, 'cog'] as const;
export type ModelHost = (typeof MODEL_HOSTS)[number];

export const isModelHost = (text: string): text is ModelHost => MODEL_HOSTS.some((host) => host === text);

export const SERVER_KINDS = ['comfyui', 'comfy-api', 'gpu', ...MODEL_HOSTS] as const;

export type ServerKind = (typeof SERVER_KINDS)[number];
