/** The Markdown of the read view, as a tree that the page renders. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { highlight } from '../../web/src/views/read/highlight.ts';
import { allowedHref, parseMarkdown, type ReadNode } from '../../web/src/views/read/markdown.ts';
import { cpuMsOf } from '../support/cpu-time.ts';

/** A short form of the tree: `p[a]`. */
function short(node: ReadNode): string {
  if (typeof node === 'string') return node;
  const { name, children, href, source, isDone, language, align } = node;
  const extra = [href, source, language, align, isDone].filter((value) => value !== undefined).join(' ');
  return `${name}${extra && `(${extra})`}[${children.map(short).join('')}]`;
}

const parse = (text: string) => parseMarkdown(text)?.map(short).join('');
const wordsOf = (node: ReadNode): string => (typeof node === 'string' ? node : node.children.map(wordsOf).join(''));

describe('the read view, Markdown', () => {
  it('[VIEW-1] has headings, emphasis, lists, tasks, tables, quotes and code', () => {
    assert.equal(parse('# A *b*'), 'h1[A em[b]]');
    assert.equal(parse('~~a~~ **b** `c`'), 'p[s[a] strong[b] code[c]]');
    assert.equal(parse('a\nb'), 'p[abr[]b]');
    assert.equal(parse('- [x] done\n- [ ] open\n- [y] none'), 'ul[li(true)[p[done]]li(false)[p[open]]li[p[[y] none]]]');
    assert.equal(parse('|a|b|\n|-|:-:|\n|1|2|'), 'table[thead[tr[th[a]th(center)[b]]]tbody[tr[td[1]td(center)[2]]]]');
    assert.equal(parse('> a\n\n---'), 'blockquote[p[a]]hr[]');
    assert.equal(parse('```ts x\na < b\n```'), 'codeblock(ts)[a < b\n]');
  });

  it('[VIEW-2] shows HTML as text, and links only to the web, e-mail and phones', () => {
    assert.equal(parse('<b onclick=x>a</b>'), 'p[<b onclick=x>a</b>]');
    assert.equal(parse('<script>alert(1)</script>'), 'p[<script>alert(1)</script>]');
    assert.equal(parse('[a](https://b.example/)'), 'p[a(https://b.example/)[a]]');
    assert.equal(parse('see b.org now'), 'p[see a(http://b.org/)[b.org] now]');
    for (const target of [
      'javascript:alert(1)',
      'data:text/html,x',
      'JAVASCRIPT:x',
      'vbscript:x',
      '/r/ABCDEF',
      'x.html',
    ])
      assert.equal(parse(`[a](${target})`), 'p[span[a]]', target);
    assert.equal(allowedHref('mailto:a@b.example'), 'mailto:a@b.example');
    assert.equal(allowedHref('mailto:a@b.example?body=x'), undefined);
    assert.equal(allowedHref('tel:+49123456'), 'tel:+49123456');
    assert.equal(allowedHref('tel:*21*1#'), undefined);
  });

  it('[VIEW-3] names each image once, by the name or the URL of a file', () => {
    assert.equal(parse('![a](my%20photo.png)'), 'p[img(my photo.png)[a]]');
    assert.equal(parse('![a](x.png) ![b](x.png)'), 'p[img(x.png)[a] b]');
  });

  it('[VIEW-4] of a hostile text is parsed in less than a second of CPU time, and hides nothing of it', () => {
    const of = (piece: string) => piece.repeat(20_000 / piece.length);
    const hostile = [
      '[',
      '![',
      '[a](',
      '*',
      '*a **a ',
      '_a__',
      '`',
      '> ',
      '- ',
      '|a',
      '<',
      '&',
      '~~a ',
      'a@',
      'http://a.',
    ];
    for (const piece of hostile) {
      let nodes: readonly ReadNode[] | undefined;
      const cpuMs = cpuMsOf(() => {
        nodes = parseMarkdown(of(piece));
      }, 1000);
      assert.ok(cpuMs < 1000, `${piece}: ${cpuMs} ms of CPU`);
      assert.ok(nodes === undefined || nodes.length > 0, piece);
    }
    const lists = Array.from({ length: 400 }, (_, depth) => `${' '.repeat(2 * depth)}- ${depth}\n`).join('');
    for (const deep of [`${'> '.repeat(400)}deep`, lists]) assert.equal(parseMarkdown(deep), undefined);
    assert.match(wordsOf(parseMarkdown(`${'> '.repeat(10)}deep`)?.[0] ?? ''), /deep/);
    assert.equal(parseMarkdown('*a* '.repeat(40_000)), undefined);
  });

  it('[VIEW-5] highlights code in known languages, and keeps every character', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
    const code = 'const a: string = `x${1}`; // <b>\n';
    const nodes = highlight(code, 'ts') ?? [];
    assert.equal(nodes.map(wordsOf).join(''), code);
    assert.ok(nodes.some((node) => typeof node !== 'string' && node.class === 'hl-keyword'));
    assert.equal(highlight(code, 'no-such-language'), undefined);
    assert.equal(highlight('a'.repeat(60_000), 'ts'), undefined);
    assert.equal(highlight('${`'.repeat(5_000), 'js'), undefined);
  });
});
