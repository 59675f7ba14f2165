// The common style of both pages, in the colour scheme of the user's system.

export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --paper: light-dark(#fbfaf8, #15171a); --card: light-dark(#ffffff, #1d2024); --ink: light-dark(#1f2328, #e3e5e8);
  --soft: light-dark(#5b636d, #9aa3ad); --line: light-dark(#e3e0da, #31363d); --wash: light-dark(#f1efea, #262a30);
  --blue: light-dark(#1f5fa8, #7db4f0); --green: light-dark(#1d7443, #63c48c); --red: light-dark(#b02f26, #f08c83);
  --amber: light-dark(#8a5a06, #e0b35a);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
a { color: var(--blue); text-underline-offset: 2px; }
h1, h2, h3, h4 { line-height: 1.25; text-wrap: balance; }
code, pre { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; }
.soft { color: var(--soft); }
`;
