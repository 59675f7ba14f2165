// The kinds of servers that run tasks: a ComfyUI, a Comfy API, a GPU of this machine for programs, and vendors of hosted models.

export const VENDORS = ['replicate', 'router', 'runpod', 'fal'] as const;
export type Vendor = (typeof VENDORS)[number];

/** The address of each vendor, the variable that its own programs read the key from, and the scheme of the key's header. */
export const VENDOR_FACTS: Readonly<
  Record<Vendor, { readonly url: string; readonly variable: string; readonly scheme: 'Bearer' | 'Key' }>
> = {
  replicate: { url: 'https://api.replicate.com', variable: 'REPLICATE_API_TOKEN', scheme: 'Bearer' },
  router: { url: 'https://api.comfy.org', variable: 'COMFY_API_KEY', scheme: 'Bearer' },
  runpod: { url: 'https://api.runpod.ai', variable: 'RUNPOD_API_KEY', scheme: 'Bearer' },
  fal: { url: 'https://queue.fal.run', variable: 'FAL_KEY', scheme: 'Key' },
};

/** The vendors that reveal a run whose answer was lost at a public address only. */
export const TELLING_VENDORS: readonly string[] = ['runpod', 'fal'] satisfies Vendor[];

/** The vendors that run a workflow of ComfyUI in a container of the user. */
export const WORKFLOW_VENDORS: readonly string[] = ['runpod'] satisfies Vendor[];

/** The vendors that tell the cost of a run at its end, which counts whatever price is stated. */
export const COST_TELLING_VENDORS: readonly string[] = ['router'] satisfies Vendor[];

export const isVendor = (text: string): text is Vendor => VENDORS.some((vendor) => vendor === text);

export const SERVER_KINDS = ['comfyui', 'comfy-api', 'gpu', ...VENDORS] as const;

export type ServerKind = (typeof SERVER_KINDS)[number];
