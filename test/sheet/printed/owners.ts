// The intention of each small sheet's owner: the rows that run, and the cells that each run needs.

/** A row maps each column to the values of its cell that have to be sent. */
type OwnedRow = Readonly<Record<string, string | readonly string[]>>;

export type OwnedSheet = {
  readonly file: string;
  readonly deployment: string;
  readonly rows: readonly OwnedRow[];
  /** The line that asks about what would otherwise be lost. */
  readonly asks?: RegExp;
  /** Pictures beside the sheet. */
  readonly pictures?: readonly string[];
  /** The refusal, where no command can be right. */
  readonly refuses?: RegExp;
};

const t2i = (file: string, rows: readonly OwnedRow[], more: Partial<OwnedSheet> = {}): OwnedSheet => ({
  file,
  deployment: 't2i',
  rows,
  ...more,
});
const on = (deployment: string, sheet: OwnedSheet): OwnedSheet => ({ ...sheet, deployment });
const prompts = (...texts: readonly string[]): readonly OwnedRow[] => texts.map((prompt) => ({ prompt }));

const FOX_AND_OWL = prompts('a fox', 'an owl');
const VOICES = ['lost umbrella', 'late train', 'note about soup'].map((line) => ({ line }));

const HEADERS: readonly OwnedSheet[] = [
  on(
    'tts',
    t2i('nohead-pipe.csv', [
      { text: 'The kettle hums' },
      { text: 'Rain came early' },
      { text: 'We counted' },
    ]),
  ),
  on('llm', t2i('nohead.csv', VOICES)),
  on('llm', t2i('nohead.xlsx', VOICES)),
  t2i('nohead1.csv', prompts('a red fox in the snow', 'an owl on a branch')),
  on(
    'product-shot',
    t2i(
      'marketplace-template.xlsx',
      [0, 1, 2].map((n) => ({ 'Product Details': `studio photo of saree ${n}`, 'Front Image': 'a.png' })),
    ),
  ),
  t2i('x8-veryhidden.xlsx', prompts('a red fox')),
  t2i('x15-two-tables.xlsx', [
    { prompt: 'a red fox', seed: '1' },
    { prompt: 'an owl', seed: '2' },
  ]),
];

const SHAPES: readonly OwnedSheet[] = [
  on(
    'tts',
    t2i('longrow-quoted.csv', [
      { English: 'It is raining again.' },
      { English: 'A door.' },
      { English: 'A bucket.' },
    ]),
  ),
  t2i('x11-longrow.xlsx', prompts('a red fox', 'an owl')),
  t2i('lp.csv', [
    { prompt: 'a fox', seed: '5' },
    { prompt: 'an owl', seed: '6' },
  ]),
  t2i('lq.csv', prompts('z', 'z, w')),
  t2i('lt.tsv', [
    { prompt: 'a fox', seed: '1' },
    { prompt: 'an owl', seed: '2' },
  ]),
  t2i('space-after-comma.csv', [
    { prompt: 'a red fox', seed: '1' },
    { prompt: 'a blue cat', seed: '2' },
  ]),
  ...['space-quote.csv', 'space-quote2.csv', 'space-quote3.csv'].map((file) =>
    t2i(file, [
      { prompt: 'clay model of a fox', negative_prompt: 'blurry' },
      { prompt: 'chalk drawing of an owl', negative_prompt: 'glossy' },
    ]),
  ),
  t2i(
    'badquote-line.csv',
    [
      { prompt: 'x, y', negative_prompt: 'b' },
      { prompt: 'grid of lines, red and blue', negative_prompt: 'round, soft' },
      { prompt: 'z', negative_prompt: 'd' },
    ],
    { refuses: /badquote-line\.csv:3/ },
  ),
  t2i('c1-backslash.csv', [
    { prompt: 'a "red" fox, sitting', seed: '1' },
    { prompt: 'an owl', seed: '2' },
  ]),
  t2i('c2-mysqlnull.csv', [{ prompt: 'a red fox' }, { prompt: 'an owl', seed: '2' }]),
  t2i(
    'c3-singlequote.csv',
    [
      { prompt: 'a red fox, sitting', seed: '1' },
      { prompt: 'an owl, flying', seed: '2' },
    ],
    { refuses: /quote/ },
  ),
  t2i('crlf-multiline.csv', [
    { prompt: 'a red fox\nin snow', seed: '1' },
    { prompt: 'a grey owl', seed: '2' },
  ]),
  t2i('x2-escapes.xlsx', prompts('a red fox\nin snow', 'file_x000D_name and A')),
];

const TEXTS: readonly OwnedSheet[] = [
  t2i('id1.csv', [{ subject: 'a red fox' }, { subject: 'a grey owl' }]),
  t2i('id2.csv', [{ prompt_text: 'a red fox' }, { prompt_text: 'a grey owl' }]),
  on(
    'product-shot',
    t2i('id3.csv', [
      { prompt: 'a red fox', input_image: 'a.png' },
      { prompt: 'a cat', input_image: 'b.png' },
    ]),
  ),
  on('tts', t2i('id4.csv', [{ Line: 'hello there' }, { Line: 'good bye' }])),
  t2i('id5.csv', [{ caption_en: 'a red fox' }, { caption_en: 'a grey owl' }]),
  t2i('u6.csv', FOX_AND_OWL, { asks: /Prompt \(DE\)|Prompt \(EN\)/ }),
  t2i('u7.csv', [], { refuses: /prompt_1/ }),
  on(
    'tts',
    t2i('u4.csv', [
      { text: 'Hello [pause 2s] world', voice: 'Ann' },
      { text: '<speak>Hello', voice: 'Bob' },
    ]),
  ),
  on(
    'tts',
    t2i(
      'u5.csv',
      [
        { Dialogue: 'Hello there', 'Voice Name': 'Ann' },
        { Dialogue: 'Good bye', 'Voice Name': 'Bob' },
      ],
      { asks: /Speed %/ },
    ),
  ),
  t2i('u3.csv', prompts('=CONCAT("a fox"," red")', '+cat,-dog'), { refuses: /u3\.csv:/ }),
  on('tryon', t2i('u8.csv', [{ image: 'a.png', image_2: 'b.png', prompt: 'a fox' }])),
];

const FORMATS: readonly OwnedSheet[] = [
  t2i('a1111-from-file.txt', [
    { prompt: 'a tin robot on a shelf', width: '512', height: '640', steps: '12', cfg: '5', seed: '4' },
    { prompt: 'a paper boat', steps: '9' },
  ]),
  ...['subs.srt', 'subs.txt'].map((file) =>
    on('tts', t2i(file, [{ text: 'Hello and welcome.' }, { text: 'Today we bake bread.' }])),
  ),
  t2i('p.yaml', [], { refuses: /YAML/i }),
  t2i('sheet.gsheet', [], { refuses: /Google/i }),
  t2i('deforum.json', [], { refuses: /Deforum|keyframe/i }),
  t2i('a1-styles-prompt.csv', [], { asks: /\{prompt\}/, refuses: /\{prompt\}/ }),
  ...['mj.csv', 'mj.json', 'mj.jsonl', 'mj.txt'].map((file) => t2i(file, FOX_AND_OWL, { asks: /--ar/ })),
];

const SIZES = [
  { width: '1920', height: '1080' },
  { width: '1024', height: '1024' },
];
const GUIDED = [
  { prompt: 'a fox', cfg: '7.5' },
  { prompt: 'an owl', cfg: '13' },
];

const SETTINGS: readonly OwnedSheet[] = [
  t2i('size.csv', SIZES, { asks: /\bsize\b/ }),
  t2i('size2.csv', SIZES, { asks: /resolution/ }),
  t2i('size3.csv', SIZES, { asks: /dimensions/ }),
  ...['guid.csv', 'guid2.csv', 'guid3.csv'].map((file) => t2i(file, GUIDED, { asks: /guidance/ })),
  t2i('lora-tag.csv', [{ prompt: 'a fox' }, { prompt: 'an owl' }], { asks: /lora/ }),
  t2i('enabled.csv', prompts('a fox', 'a cat'), { asks: /enabled/ }),
  t2i('done.csv', prompts('an owl'), { asks: /Status/ }),
  t2i('status.csv', prompts('an owl'), { asks: /Status/ }),
  t2i('gen.csv', prompts('a fox'), { asks: /generate/ }),
  t2i('steps.csv', [{ prompt: 'a fox' }, { prompt: 'an owl' }], { asks: /steps/i }),
  on(
    'i2v',
    t2i(
      'ar.csv',
      [
        { prompt: 'a fox', aspect_ratio: '16:9' },
        { prompt: 'an owl', aspect_ratio: '16:9' },
        { prompt: 'a cat', aspect_ratio: '9:16' },
      ],
      { refuses: /landscape/ },
    ),
  ),
  t2i('sampler.csv', [
    { prompt: 'a fox', sampler: 'euler_a' },
    { prompt: 'an owl', sampler: 'dpmpp_2m' },
    { prompt: 'a cat', sampler: 'euler' },
  ]),
  t2i('seedneg.csv', FOX_AND_OWL, { asks: /seed/ }),
  on(
    'i2v',
    t2i('dur.csv', [
      { prompt: 'a fox', duration: '10' },
      { prompt: 'an owl', duration: '5' },
      { prompt: 'a cat', duration: '5' },
    ]),
  ),
  t2i('u1.csv', [{ prompt: 'a fox', cfg: '7.5', steps: '20' }], { asks: /u1|seed/ }),
  t2i('u2.csv', [{ prompt: 'a fox', width: '1024', height: '1024' }]),
  t2i('x13-formats.xlsx', [{ prompt: 'a red fox', width: '1024', cfg: '7.25' }], {
    asks: /steps/,
    refuses: /steps/,
  }),
  t2i('x14-textnum.xlsx', [
    { prompt: 'a red fox', seed: '42' },
    { prompt: 'an owl', seed: '43' },
  ]),
  t2i(
    'x7-floats.xlsx',
    [{ prompt: 'a red fox', seed: '4200', cfg: '7.5' }, { prompt: 'an owl' }, { prompt: 'a cat' }],
    { refuses: /"0\.1" in column "cfg" is too small/ },
  ),
];

const CELLS: readonly OwnedSheet[] = [
  t2i('dup.csv', prompts('a fox', 'a fox', 'an owl'), { asks: /equals row 1/ }),
  t2i('dup.json', prompts('a fox', 'a fox', 'an owl'), { asks: /equals row 1/ }),
  t2i('longkey.csv', FOX_AND_OWL),
  on(
    'llm',
    t2i('html-cells.csv', [{ description: 'Sporty top.' }, { description: 'Red dress' }], {
      asks: /description/,
    }),
  ),
  t2i('blank-prompts.csv', prompts('a red fox'), { refuses: /blank-prompts\.csv/ }),
  t2i('placeholder-prompts.csv', prompts('nan', 'None', 'null', '#N/A', '#REF!', '#VALUE!', 'undefined'), {
    asks: /nan|None|#REF!/,
    refuses: /nan|None|#REF!/,
  }),
  t2i('edit.csv', [
    { prompt: 'a red fox', seed: '1' },
    { prompt: 'a grey owl', seed: '2' },
    { prompt: 'a cat', seed: '3' },
  ]),
  on(
    'edit',
    t2i(
      'gallery.csv',
      [
        { Pictures: 'https://a.example/tee.jpg', prompt: 'a tee on a beach' },
        { Pictures: 'https://a.example/cap.jpg', prompt: 'a cap on a beach' },
      ],
      { asks: /--split Pictures/ },
    ),
  ),
  on(
    'edit',
    t2i(
      'subfolder.csv',
      [
        { Foto: 'upload:fotos/1.jpg', Bearbeitung: 'Kabel entfernen' },
        { Foto: 'upload:fotos/2.jpg', Bearbeitung: 'Himmel aufhellen' },
      ],
      { pictures: ['fotos/1.jpg', 'fotos/2.jpg'] },
    ),
  ),
  on('edit', t2i('image-local-path.csv', [], { refuses: /image-local-path\.csv/ })),
  t2i('x1-furigana.xlsx', prompts('東京の夜景', '富士山の朝')),
  t2i('x10-strike.xlsx', prompts('a red fox', 'an owl (cancelled)')),
  t2i('x3-strict.xlsx', prompts('a red fox')),
  t2i('x4-prefix.xlsx', prompts('a red fox')),
  t2i('x5-norefs.xlsx', [
    { prompt: 'a red fox', seed: '7' },
    { prompt: 'an owl', seed: '8' },
  ]),
  t2i('x6-1904.xlsx', prompts('a red fox')),
  t2i('x9-hiddencol.xlsx', [{ prompt: 'a red fox', negative_prompt: 'blurry' }], { asks: /hidden/ }),
];

export const OWNED: readonly OwnedSheet[] = [HEADERS, SHAPES, TEXTS, FORMATS, SETTINGS, CELLS].flat();
