// Every guess about a sheet, with a sheet that shows it. A test reads each sheet, and the documents show the table.

export type Guessed = {
  readonly found: string;
  readonly means: string;
  /** `said`: printed; `asked`: confirmed, or answered by its flag; `refused`: an error. */
  readonly does: 'said' | 'asked' | 'refused';
  /** A refusal's code; its flag is the one that helps. */
  readonly code?: string;
  readonly flag: string;
  /** The sheet; `file`: its name. */
  readonly sheet: string;
  readonly file?: string;
  /** Further whole-number inputs of the deployment. */
  readonly inputs?: readonly string[];
  /** Templates of the command. */
  readonly set?: Readonly<Record<string, string>>;
};

export const GUESSES: readonly Guessed[] = [
  {
    found: 'UTF-16, or bytes that are not UTF-8',
    means:
      'the encoding whose words look right (asked if letters that are sent depend on it; refused with each reading if several do)',
    does: 'said',
    flag: '--encoding',
    sheet: '\ufeffprompt\nÄpfel\n',
    file: 'utf16le',
  },
  {
    found: 'a line `sep=;`, or rows with `;`, tabs or bars',
    means: 'the separator',
    does: 'said',
    flag: '--delimiter',
    sheet: 'prompt;seed\na, b;1\nc;2\n',
  },
  {
    found: 'a quote within a field: `24" screen`',
    means: 'a letter',
    does: 'said',
    flag: '--quote',
    sheet: 'prompt,seed\n24" screen,1\n',
  },
  {
    found: 'a table with tabs in which not every quote encloses a field',
    means: 'all quotes are letters',
    does: 'said',
    flag: '--quote',
    sheet: 'prompt\tseed\n"Sunny" lamp\t1\n',
  },
  {
    found: 'a quote that opens a field and takes in lines that look like rows, or that is never closed',
    means: 'it encloses the field; it is a letter',
    does: 'asked',
    flag: '--quote',
    sheet: 'prompt,seed\n"a,1\nb",2\nc,3\n',
  },
  {
    found: '`\\"` in a field, if every line is whole then',
    means: 'a quote',
    does: 'said',
    flag: '--quote',
    sheet: 'prompt,seed\n"a \\"red\\" fox, sitting",1\n',
  },
  {
    found: 'a line whose quotes do not fit otherwise',
    means: 'the others are read, and each such line is named',
    does: 'refused',
    code: 'E200',
    flag: '',
    sheet: 'prompt,seed\n"a, b",1\n"c,2\n',
  },
  {
    found: 'other quotes around each cell, such as `“a fox”`, and any in a list',
    means: 'letters that are sent',
    does: 'asked',
    flag: '--quote',
    sheet: 'prompt,seed\n“a”,1\n“b”,2\n',
  },
  {
    found: 'prompts with parameters of Midjourney, in a list or a CSV',
    means:
      'parameters become columns, and the aspect ratio a width and height (`--format`); asked, also about parameters that no input takes',
    does: 'asked',
    flag: '--drop parameters',
    sheet: 'prompt\na fox --ar 16:9 --v 6\n',
  },
  {
    found: 'HTML in a text: `<p>`, `&amp;`',
    means: 'sent with it',
    does: 'said',
    flag: '',
    sheet: 'prompt\n<p>a fox</p>\n',
  },
  {
    found: 'a `.txt` whose lines begin with names of settings, such as `Seed: 5`',
    means: '',
    does: 'refused',
    code: 'E104',
    flag: '--columns',
    sheet: 'Prompt: a cat\nSeed: 5\n\nPrompt: an owl\nSeed: 6\n',
    file: 'a.txt',
  },
  {
    found: 'such quotes around a text with commas, or around the names of columns',
    means: '',
    does: 'refused',
    code: 'E103',
    flag: '--quote',
    sheet: 'prompt,seed\n“a, b”,1\n',
  },
  {
    found: 'rows above the header',
    means: 'titles, left out; asked if one has several values, or if the header names no input',
    does: 'said',
    flag: '--header-row',
    sheet: 'Campaign,\nprompt,seed\na,1\n',
  },
  {
    found: 'a `.txt` without a header, or a JSON list of texts',
    means: 'each line or text is one prompt',
    does: 'said',
    flag: '--columns',
    sheet: 'a fox, red\nan owl\n',
    file: 'prompts.txt',
  },
  {
    found: 'two columns of one name that are an input',
    means: '',
    does: 'refused',
    code: 'E208',
    flag: '--drop',
    sheet: 'prompt,prompt\na,b\n',
  },
  {
    found:
      'cells beyond the header in a workbook, with another separator than commas, or in rows with quotes around each text',
    means: 'data of columns without a name',
    does: 'asked',
    flag: '--long-rows',
    sheet: 'prompt\tseed\na\t1\tnote\nb\t2\n',
    file: 'a.tsv',
  },
  {
    found: 'a first row like those below it: `T001` above `T002`, sentences, one text twice',
    means: 'a row, and no header',
    does: 'refused',
    code: 'E104',
    flag: '--header-row',
    sheet: 'T001,a red fox in the snow\nT002,an owl\n',
  },
  {
    found: 'rows with more commas than the header, which can only be of one text',
    means: 'they belong to it',
    does: 'asked',
    flag: '--unquoted',
    sheet: 'prompt,seed\na, b,1\nc,2\n',
  },
  {
    found: 'rows without their last cells',
    means: 'these cells are empty',
    does: 'asked',
    flag: '--short-rows',
    sheet: 'prompt,seed\na\nb,2\n',
  },
  {
    found: 'rows that begin with `#` or `//`',
    means: 'comments',
    does: 'asked',
    flag: '--comment',
    sheet: 'prompt,seed\n# later\na,1\nb,2\n',
  },
  {
    found: 'totals, notes below them, and lines such as ` ``` `',
    means: 'no rows',
    does: 'asked',
    flag: '--totals',
    sheet: 'prompt,seed\na,1\nTotal,1\n',
  },
  {
    found: 'rows without any input, and repeated headers',
    means: '',
    does: 'refused',
    code: 'E112',
    flag: '--where',
    sheet: 'prompt,seed,note\na,1,\n,,x\n',
  },
  {
    found: 'equal rows',
    means: 'each is run; `--unique` leaves them out',
    does: 'asked',
    flag: '--no-unique',
    sheet: 'prompt\na\na\n',
  },
  {
    found: 'inputs in the first column',
    means: 'the sheet is turned by 90°',
    does: 'refused',
    code: 'E104',
    flag: '',
    sheet: 'prompt,a,b\nseed,1,2\ncfg,7,8\n',
  },
  {
    found: '`Prompt *`, `Seed (leave empty)`, `CFG [1-30]`',
    means: 'the input without case, blanks and notes',
    does: 'said',
    flag: '--map',
    sheet: 'Prompt *,Seed (leave empty)\na,1\n',
  },
  {
    found: 'a wrong letter or two, another well-known name, or a name that contains the input',
    means: 'the input',
    does: 'asked',
    flag: '--map',
    sheet: 'prompt,guidance_scale\na,7\n',
  },
  {
    found: 'a setting that the deployment does not have',
    means: 'it changes nothing',
    does: 'asked',
    flag: '--drop',
    sheet: 'prompt,Width\na,512\n',
  },
  {
    found: 'sizes such as `1920x1080`, or `DPM++ 2M Karras` where sampler and scheduler are inputs',
    means: 'two inputs',
    does: 'asked',
    flag: '--map height=Format',
    sheet: 'prompt,Format\na,1920x1080\n',
    inputs: ['width', 'height'],
  },
  {
    found: 'a size, or several settings in one cell, that no input takes',
    means: 'it changes nothing',
    does: 'asked',
    flag: '--drop',
    sheet: 'prompt,settings\na,size=1024x1024; steps=28\n',
  },
  {
    found: 'yes and no in any language, or a column called status',
    means: 'all rows run; `--where` takes some',
    does: 'asked',
    flag: '--drop',
    sheet: 'prompt,enabled\na,yes\nb,no\n',
  },
  {
    found: 'a cell with `<lora:…>`, or with its own column in braces, as styles of A1111 have it',
    means: 'text',
    does: 'asked',
    flag: '--map prompt=prompt',
    sheet: 'name,prompt\nclay,"{prompt}, clay"\n',
  },
  {
    found: 'a column in braces in a cell, `{style}`',
    means: 'text, no template',
    does: 'asked',
    flag: '--drop',
    sheet: 'prompt,style\na {style},oil\n',
  },
  {
    found: 'no column for a required input',
    means: 'the likely columns stand in a ready command, and one with HTML is a choice',
    does: 'refused',
    code: 'E200',
    flag: '',
    sheet: 'Shot,Shot description\n1,a wide shot of a harbour at dawn\n',
  },
  {
    found: '`sku`, `id`, `name`, `scene_id`, `Handle`, `image_name` with unique values',
    means: 'the names of the rows',
    does: 'said',
    flag: '--key',
    sheet: 'scene_id,prompt\nx,a\ny,b\n',
  },
  {
    found: 'GPUs in a column of another name',
    means: 'the GPU of each row',
    does: 'asked',
    flag: '--gpu-column',
    sheet: 'prompt,Card\na,H100\n',
  },
  {
    found: '`N/A`, `None`, `-`, `nan`, `todo` in a cell that is sent, `random` for a number, -1 for a seed',
    means: 'empty; `--null keep` sends all',
    does: 'asked',
    flag: '--null',
    sheet: 'prompt,seed\na,N/A\n',
  },
  {
    found: '`#REF!`, `#N/A` and other errors of a formula',
    means: '',
    does: 'refused',
    code: 'E200',
    flag: '',
    sheet: 'prompt,seed\n#REF!,1\n',
  },
  {
    found: '`60%` for a number',
    means: '0.6; asked unless the input takes at most 1',
    does: 'asked',
    flag: '--type',
    sheet: 'prompt,cfg\na,60%\n',
  },
  {
    found: '`1024px`, `5 sec`, `0:05`, `30 steps` for a number',
    means: '1024, 5, 5, 30',
    does: 'asked',
    flag: '--type',
    sheet: 'prompt,seed\na,20 steps\n',
  },
  {
    found: '`7,5`, if no value may be thousands',
    means: 'a decimal comma',
    does: 'asked',
    flag: '--decimal-comma',
    sheet: 'prompt;cfg\na;7,5\n',
  },
  {
    found: 'rows without a cell of a template that continue the row above',
    means: 'the cell above',
    does: 'asked',
    flag: '--fill-down',
    sheet: 'Handle,Title,seed\na,fox,1\na,,2\n',
    set: { prompt: 'a {Title}' },
  },
  {
    found: 'rows without a cell of a template',
    means: 'its text without the cell; brackets leave out a part, `[in {style} style]`',
    does: 'asked',
    flag: '--set',
    sheet: 'product,style\nlamp,oil\nmug,\n',
    set: { prompt: 'a {product} in {style}' },
  },
  {
    found:
      'a line of subtitles that stands where no cue has it: behind an empty line, above the first cue, or with unclear times',
    means: 'its text, or the times of its cue',
    does: 'asked',
    flag: '--skip-rows',
    sheet: '1\n00:01,000 --> 00:02,000\nHi.\n\nThere.\n',
    set: { prompt: '{text}' },
    file: 'a.srt',
  },
  {
    found: 'tags in subtitles, such as `<i>` and `{\\an8}`; bullets of a list (`- `, `1. `)',
    means: 'the text without them; the voices of `<v Zoé>` are a column, or a row each; `&amp;` is &',
    does: 'asked',
    flag: '--tags',
    sheet: '1\n00:01,000 --> 00:02,000\n<i>Hi.</i>\n',
    set: { prompt: '{text}' },
    file: 'a.srt',
  },
  {
    found: 'a JSON document with one list of objects or of texts',
    means: 'its rows',
    does: 'said',
    flag: '--records',
    sheet: '{"items":[{"prompt":"a"}]}',
    file: 'a.json',
  },
  {
    found: 'JSON in columns, or by names, as pandas writes it; one object with inputs',
    means: 'its rows',
    does: 'said',
    flag: '--orient',
    sheet: '{"prompt":{"0":"a"}}',
    file: 'a.json',
  },
  {
    found: 'JSON rows with all of their inputs in one object',
    means: 'the inputs',
    does: 'said',
    flag: '--unwrap',
    sheet: '{"inputs":{"prompt":"a"}}',
    file: 'a.jsonl',
  },
];

/** Lists the guesses, grouped by how runsheet handles them. */
export const guessList = (): string => {
  const of = (does: Guessed['does']): readonly string[] =>
    GUESSES.filter((guess) => guess.does === does).map(({ found: finding, means, code, flag }) => {
      const answer = flag === '' ? '' : ` (\`${flag}\`)`;
      return `- ${finding}${means === '' ? '' : `: ${means}`}${code === undefined ? '' : ` (${code})`}${answer}.`;
    });
  return [
    '**Printed**, with the flag that says the same:',
    '',
    ...of('said'),
    '',
    '**Asked**, or answered by the flag:',
    '',
    ...of('asked'),
    '',
    '**Refused**:',
    '',
    ...of('refused'),
    '',
  ].join('\n');
};
