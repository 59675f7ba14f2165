import { describe, expect, it } from 'vitest';
import { extensionOf } from '../../activities/file-extension.ts';
import { isPassiveSvg } from '../../activities/passive-svg.ts';

const hex = (digits: string): Buffer => Buffer.concat([Buffer.from(digits, 'hex'), Buffer.alloc(64)]);
const PNG = hex('89504e470d0a1a0a0000000d49484452');
const EXE = hex('4d5a90000300000004000000ffff0000');
const LNK = hex('4c0000000114020000000000c000000000000046');
const ELF = hex('7f454c460201010000000000000000000200');
const ZIP = hex('504b0304140000000000');
const text = (words: string): Buffer => Buffer.from(words);

describe('the extension of an output', () => {
  it.each([
    ['a picture, whatever its name is', PNG, 'setup.exe', 'png'],
    ['text with a known extension', text('{"a":1}'), 'data.JSON', 'json'],
    ['a mesh', text('v 1 2 3'), 'mesh.obj', 'obj'],
    ['a caption', text('a fox'), 'caption.txt', 'txt'],
    ['an archive', ZIP, 'all.zip', 'zip'],
    ['a Windows program', EXE, 'one.png', 'bin'],
    ['a Windows program by its name', EXE, 'setup.exe', 'bin'],
    ['a shortcut', LNK, 'one.lnk', 'bin'],
    ['a Linux program', ELF, 'run', 'bin'],
    ['a page with the name of a picture', text('<!doctype html><script>x</script>'), 'one.png', 'bin'],
    ['a page', text('<!doctype html><script>x</script>'), 'one.html', 'bin'],
    [
      'a page as XML',
      text('<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>'),
      'a.xml',
      'bin',
    ],
    ['a script', text('#!/bin/sh\nrm'), 'a.sh', 'bin'],
    ['a JavaScript file', text('alert(1)'), 'a.js', 'bin'],
    ['a desktop entry', text('[Desktop Entry]\nExec=x'), 'a.desktop', 'bin'],
    ['an HTML application', text('<script>x</script>'), 'a.hta', 'bin'],
    ['a file without a name', text('x'), '', 'bin'],
    ['a name with dots and paths', text('x'), '../../a.txt/..', 'bin'],
    ['a name that every object has as a property', text('x'), 'a.constructor', 'bin'],
  ])('of %s', async (_, head, name, extension) => {
    expect(await extensionOf(head, true, name)).toBe(extension);
  });
});

const svg = (inside: string, attributes = ''): string =>
  `<svg xmlns="http://www.w3.org/2000/svg"${attributes}>${inside}</svg>`;

describe('an SVG', () => {
  it.each([
    ['drawn by hand', svg('<path d="M0 0L9 9" fill="#f00"/>', ' viewBox="0 0 9 9"')],
    [
      'with a prolog',
      `\uFEFF<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<!-- made -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">\n${svg('')}`,
    ],
    [
      'with a gradient',
      svg(
        '<defs><linearGradient id="a"><stop offset="0"/></linearGradient></defs><rect fill="url(#a)" style=\'stroke:url( "#a" )\'/>',
      ),
    ],
    ['with a style', svg('<style>.a > .b { fill: red }</style><g class="a"><circle class="b" r="1"/></g>')],
    [
      'with a picture in it',
      svg(
        '<image xlink:href="data:image/png;base64,iVBORw0KGgo=" width="9"/>',
        ' xmlns:xlink="http://www.w3.org/1999/xlink"',
      ),
    ],
    ['with text', svg('<text x="1" xml:space="preserve">1 &lt; 2 &amp; 東京 > on load</text>')],
  ])('%s keeps its name', async (_, markup) => {
    expect(isPassiveSvg(text(markup))).toBe(true);
    expect(await extensionOf(text(markup), true, 'drawing.SVG')).toBe('svg');
  });

  it.each([
    ['a script', svg('<script>alert(1)</script>')],
    ['a script in capitals', svg('<SCRIPT>alert(1)</SCRIPT>')],
    [
      'a script under another prefix',
      svg('<x:script>alert(1)</x:script>', ' xmlns:x="http://www.w3.org/2000/svg"'),
    ],
    ['a script in a comment that ends early', svg('<!----><script>alert(1)</script>-->')],
    ['a handler', svg('', ' onload="alert(1)"')],
    ['a handler behind a quote', svg("<path d='\"' onclick='alert(1)'/>")],
    ['a handler without blanks', svg('<path d=""onclick="alert(1)"/>')],
    ['a page inside', svg('<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"/></foreignObject>')],
    ['another namespace', svg('<g xmlns="http://www.w3.org/1999/xhtml"/>')],
    ['a link', svg('<a href="javascript:alert(1)"><path/></a>')],
    ['a link with character references', svg('<image href="&#106;avascript:alert(1)"/>')],
    ['a picture from elsewhere', svg('<image href="http://tracker/x.png"/>')],
    ['a drawing as a picture', svg('<image href="data:image/svg+xml;base64,PHN2Zz4="/>')],
    ['an animation of an address', svg('<animate attributeName="href" to="javascript:alert(1)"/>')],
    ['a style from elsewhere', svg('<style>@import "http://tracker/x.css";</style>')],
    ['a fill from elsewhere', svg('<path fill="url(http://tracker/#a)"/>')],
    ['a fill with an escaped name', svg(String.raw`<path style="fill:\75rl(http://tracker)"/>`)],
    ['entities of its own', `<!DOCTYPE svg [<!ENTITY a "<script/>">]>${svg('&a;')}`],
    ['a stylesheet', `<?xml version="1.0"?><?xml-stylesheet href="http://tracker/x.xsl"?>${svg('')}`],
    ['raw text', svg('<style><![CDATA[</style><script>alert(1)</script>]]></style>')],
    ['more copies than can be drawn', svg('<g id="a"><path/></g><use href="#a"/>')],
    ['another encoding', `<?xml version="1.0" encoding="UTF-7"?>${svg('')}`],
    ['an unclosed tag', svg('<path')],
    ['something before it', `<p/>${svg('')}`],
    ['not an SVG', '<svgx/>'],
  ])('with %s does not', async (_, markup) => {
    expect(isPassiveSvg(text(markup))).toBe(false);
    expect(await extensionOf(text(markup), true, 'drawing.svg')).toBe('bin');
  });

  it('does not keep its extension if it is not UTF-8 or only partly known', async () => {
    expect(isPassiveSvg(Buffer.from(`\uFEFF${svg('')}`, 'utf16le'))).toBe(false);
    expect(await extensionOf(text(svg('')), false, 'drawing.svg')).toBe('bin');
    expect(await extensionOf(PNG, true, 'drawing.svg')).toBe('png');
  });

  it('is checked in linear time, whatever its content', () => {
    const long = 1 << 20;
    const began = performance.now();
    for (const piece of [
      '<a b="',
      '<!--',
      '<',
      'url(',
      '"',
      '<g a=""',
      ' ',
      'a=',
      '<!DOCTYPE svg PUBLIC "',
      '&',
      '<?xml ',
    ])
      isPassiveSvg(text(`<svg xmlns="http://www.w3.org/2000/svg">${piece.repeat(long / piece.length)}`));
    expect(isPassiveSvg(text(svg(`<!--${'a'.repeat(long)}-->`)))).toBe(true);
    expect(isPassiveSvg(text(svg(`<path d="${'M0 0'.repeat(long / 4)}"/>`)))).toBe(true);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});
