/** The CSS of the docs page. */
export const docsStyle = `
:root {
  color-scheme: light dark;
  --paper: #fdfcfa; --sheet: #f5f2ec; --line: #e5e0d6; --ink: #22201c; --soft: #6b665c; --accent: #b8420f; --on-accent: #fff;
  --text: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif;
  --mono: ui-monospace, 'SF Mono', 'Cascadia Code', 'Roboto Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #171614; --sheet: #211f1c; --line: #35322d; --ink: #ebe7df; --soft: #a09a8e; --accent: #ff9a6b; --on-accent: #2a1206;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1.5rem; -webkit-text-size-adjust: 100%; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1.0625rem/1.65 var(--text); }
a { color: inherit; text-decoration-color: var(--accent); text-underline-offset: .2em; }
a:hover { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 3px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; z-index: 1; background: var(--paper); padding: .5rem 1rem; }

code, pre { font-family: var(--mono); }
code { font-size: .875em; overflow-wrap: anywhere; }
p code, li code, td code { background: var(--sheet); border-radius: 4px; padding: .1em .35em; }
pre { margin: 0; padding: 1rem 1.125rem; background: var(--sheet); border-radius: 10px; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .9rem; line-height: 1.65; }
pre code { font-size: inherit; }
pre i { font-style: normal; color: var(--soft); }
pre.sh code { user-select: all; -webkit-user-select: all; }

nav { padding: 1rem 1.25rem 0; font-size: .9rem; line-height: 1.4; }
nav a { text-decoration: none; }
.brand { display: none; font-size: 1.25rem; font-weight: 700; letter-spacing: -.02em; }
.brand::before { content: ''; display: inline-block; width: .7em; height: .7em; margin-right: .45em; border-radius: 50% 50% 50% 0; background: var(--accent); }
nav details { border: 1px solid var(--line); border-radius: 10px; padding: 0 1rem; }
nav summary { padding: .75rem 0; cursor: pointer; font-weight: 600; }
nav p { margin: 1.25rem 0 .375rem; font-size: .8125rem; font-weight: 600; color: var(--soft); }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav li a { display: flex; gap: .75rem; align-items: baseline; padding: .25rem 0; }
nav li span { flex: none; width: 2.5rem; font: 600 .6875rem var(--mono); color: var(--soft); }

main { max-width: 76rem; padding: 0 1.25rem 6rem; }
header, .guide { max-width: 44rem; }
header { padding-top: 2.5rem; font-size: 1.1875rem; }
h1 { margin: 0; font-size: clamp(2.25rem, 6vw, 3.25rem); line-height: 1.1; letter-spacing: -.035em; }
h1 span { font-size: .9375rem; font-weight: 500; letter-spacing: 0; color: var(--soft); white-space: nowrap; }
h2 { margin: 0 0 .75rem; font-size: 1.75rem; line-height: 1.2; letter-spacing: -.02em; }
h3 { margin: 0 0 .5rem; font-size: 1.3125rem; line-height: 1.3; letter-spacing: -.01em; }
h3 a { text-decoration: none; }
p { margin: 0 0 1rem; }
header p { margin-top: 1rem; }
section { margin-top: 4.5rem; }
.guide pre { margin: 0 0 1.5rem; }
.guide ul { margin: 0 0 1rem; padding-left: 1.125rem; }
.guide li { margin-bottom: .5rem; padding-left: .25rem; }
.guide li::marker { color: var(--accent); }
.lead { color: var(--soft); }

article { margin-top: 2rem; padding-top: 2.25rem; border-top: 1px solid var(--line); display: grid; gap: 1.75rem; grid-template-columns: minmax(0, 1fr); }
.route { display: flex; gap: .625rem; align-items: baseline; }
.route code { padding: 0; background: none; font-size: 1rem; }
.method { flex: none; font: 700 .75rem/1 var(--mono); padding: .35em .6em; border-radius: 5px; border: 1px solid var(--line); }
.get { background: var(--sheet); }
.post { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.delete { border-color: var(--accent); color: var(--accent); }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; line-height: 1.5; }
caption { text-align: left; font-weight: 600; padding: .75rem 0 .5rem; }
tr { border-top: 1px solid var(--line); }
th, td { padding: .6875rem 0; text-align: left; vertical-align: top; font-weight: 400; }
.fields th { width: 9.5rem; padding-right: 1rem; }
.fields th span { display: block; font-size: .8125rem; color: var(--soft); }
.fields th b { font-weight: 600; color: var(--accent); }
.example { display: block; font-size: .8125rem; color: var(--soft); }
.errors { margin-top: .75rem; }
summary { cursor: pointer; }
.errors summary { font-weight: 600; padding: .5rem 0; font-size: .9375rem; }
.errors summary span { font-weight: 400; color: var(--soft); }
td.status { width: 3.5rem; }
.status { font: 600 .875rem var(--mono); }
td.status { padding-top: .875rem; }
.samples { display: grid; gap: 1.25rem; align-content: start; }
figure { margin: 0; min-width: 0; border-radius: 10px; background: var(--sheet); }
figcaption { padding: .5rem 1rem; font-size: .875rem; color: var(--soft); border-bottom: 1px solid var(--line); }
figcaption .status { color: var(--ink); margin-right: .375rem; }
figure pre { padding: .875rem 1rem; font-size: .775rem; }
figure pre:has(code:empty) { display: none; }
footer { margin-top: 5rem; padding-top: 1.5rem; border-top: 1px solid var(--line); font-size: .9375rem; color: var(--soft); }
details.code { border-top: 1px solid var(--line); }
details.code summary { display: grid; grid-template-columns: 3rem 1fr 1rem; align-items: baseline; padding: .75rem 0; list-style: none; }
details.code summary::-webkit-details-marker { display: none; }
details.code summary span { grid-column: 2; color: var(--soft); font-size: .9375rem; line-height: 1.5; }
details.code pre { margin: 0 0 1rem; font-size: .8rem; }
details.code summary::after { content: '+'; grid-area: 1 / 3; color: var(--accent); }
details.code[open] summary::after { content: '\u2212'; }
details.code:target { border-top-color: var(--accent); }
details.code:target .status { color: var(--accent); }

@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 16.5rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 2.25rem 1rem 2rem 1.75rem; border-right: 1px solid var(--line); }
  .brand { display: block; }
  nav details { border: 0; padding: 0; margin-top: 1.75rem; }
  main { padding-inline: 2.5rem; }
  header { padding-top: 4.5rem; }
  @supports selector(::details-content) {
    nav summary { display: none; }
    nav details::details-content { content-visibility: visible; display: block; }
  }
}
@media (min-width: 75rem) {
  article { grid-template-columns: minmax(0, .8fr) minmax(0, 1fr); gap: 2.5rem; }
  .samples { position: sticky; top: 1.5rem; align-self: start; }
}
@media (max-width: 75rem) { figure pre { font-size: .8125rem; } }
@media (max-width: 30rem) {
  .fields tr, .fields th, .fields td { display: block; width: auto; }
  .fields th { padding-bottom: 0; }
  .fields th span { display: inline; margin-left: .5rem; }
  .fields td { padding-top: .125rem; }
}
@media print { nav { display: none; } body { display: block; } }
`;
