export const REFERENCE_STYLE = `
body { display: grid; grid-template: auto 1fr / 15rem minmax(0, 60rem); gap: 0 40px; padding: 28px clamp(16px, 4vw, 48px); }
header { grid-column: 1 / -1; max-width: 60rem; }
header h1 { font-size: 28px; margin: 0 0 8px; }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding: 8px 0 32px; font-size: 14px; }
nav h2 { font-size: 12px; text-transform: uppercase; letter-spacing: .06em; color: var(--soft); margin: 20px 0 4px; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: 2px 0; color: inherit; text-decoration: none; }
nav a:hover { text-decoration: underline; }
main h2 { font-size: 20px; margin: 36px 0 12px; }
article { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 4px 24px 20px; margin: 0 0 20px; scroll-margin-top: 16px; }
article:target { border-color: var(--blue); }
h3 { font-size: 17px; margin: 18px 0 8px; } h3 a { color: inherit; text-decoration: none; }
h4 { font-size: 13px; color: var(--soft); margin: 20px 0 6px; }
.address { font-size: 15px; overflow-wrap: anywhere; }
.address b { font: 600 12px/1 ui-monospace, "DejaVu Sans Mono", monospace; border: 1px solid; border-radius: 5px; padding: 3px 7px; }
.get { color: var(--blue); } .post { color: var(--green); }
.status-2 { color: var(--green); } .status-4 { color: var(--amber); } .status-5 { color: var(--red); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; font-weight: 500; font-size: 12px; color: var(--soft); }
th, td { padding: 6px 16px 6px 0; vertical-align: top; border-bottom: 1px solid var(--line); }
td:first-child { white-space: nowrap; } td:last-child { min-width: 16rem; padding-right: 0; }
i { font-size: 12px; color: var(--soft); }
pre { background: var(--wash); border-radius: 8px; padding: 12px 14px; overflow: auto; max-height: 28rem; margin: 8px 0; }
details { border-top: 1px solid var(--line); padding: 8px 0; }
summary { cursor: pointer; }
@media (max-width: 60rem) { body { grid-template: auto auto auto / minmax(0, 1fr); } nav { position: static; max-height: none; } }
@media print { nav { display: none; } details::details-content { content-visibility: visible; } }
`;
