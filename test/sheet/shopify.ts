// A product export in the shape of Shopify: a line for each variant and each further picture; only the first line of a product has
// its title, and `Image Src` lists the pictures of the product beside lines of variants.

const COLUMNS = [
  'Handle',
  'Title',
  'Body (HTML)',
  'Option1 Name',
  'Option1 Value',
  'Variant SKU',
  'Image Src',
  'Image Position',
  'Variant Image',
  'Status',
] as const;

type Line = Partial<Record<(typeof COLUMNS)[number], string>>;

const at = (name: string): string => `https://cdn.shopify.com/s/files/1/0532/7781/files/${name}.jpg?v=16987`;

const SHOPIFY_LINES: readonly Line[] = [
  {
    Handle: 'linen-apron',
    Title: 'Linen Apron',
    'Body (HTML)': '<p>Washed <strong>linen</strong></p>',
    'Option1 Name': 'Color',
    'Option1 Value': 'Sand',
    'Variant SKU': 'LA-SND',
    'Image Src': at('apron'),
    'Image Position': '1',
    'Variant Image': at('apron-sand'),
    Status: 'active',
  },
  {
    Handle: 'linen-apron',
    'Option1 Value': 'Ink',
    'Variant SKU': 'LA-INK',
    'Image Src': at('apron-back'),
    'Image Position': '2',
    'Variant Image': at('apron-ink'),
  },
  { Handle: 'linen-apron', 'Option1 Value': 'Rust', 'Variant SKU': 'LA-RST' },
  {
    Handle: 'copper-pan',
    Title: 'Copper Pan',
    'Option1 Name': 'Title',
    'Option1 Value': 'Default Title',
    'Variant SKU': 'CP-24',
    'Image Src': at('pan'),
    'Image Position': '1',
    Status: 'active',
  },
  { Handle: 'copper-pan', 'Image Src': at('pan-side'), 'Image Position': '2' },
  {
    Handle: 'oak-board',
    Title: 'Oak Board',
    'Option1 Name': 'Size',
    'Option1 Value': 'S',
    'Variant SKU': 'OB-S',
    'Image Src': at('board'),
    'Image Position': '1',
    Status: 'active',
  },
  { Handle: 'oak-board', 'Option1 Value': 'M', 'Variant SKU': 'OB-M' },
  {
    Handle: 'new-vase',
    Title: 'New Vase',
    'Option1 Name': 'Title',
    'Option1 Value': 'Default Title',
    'Variant SKU': 'VA-1',
    Status: 'draft',
  },
];

const cell = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

export const SHOPIFY = [
  COLUMNS.join(','),
  ...SHOPIFY_LINES.map((line) => COLUMNS.map((name) => cell(line[name] ?? '')).join(',')),
]
  .map((line) => `${line}\n`)
  .join('');
