/** Draws the icons of the installed page from its mark; run by hand when the mark changes. */
import { writeFile } from 'node:fs/promises';
import { launchBrowser } from '../test/support/browser.ts';

const mark = `<path d="M17 5H10a6 6 0 0 0-6 6v11a6 6 0 0 0 6 6h11a6 6 0 0 0 6-6v-7" fill="none" stroke="#1f1b16"
  stroke-width="3" stroke-linecap="round"/><circle cx="24" cy="8" r="5" fill="#e0541b"/>`;

/** The mark on paper; `margin` is what a mask may cut away, in units of the mark. */
const drawing = (margin: number, corner: number) => {
  const side = 32 + 2 * margin;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-margin} ${-margin} ${side} ${side}">
    <rect x="${-margin}" y="${-margin}" width="${side}" height="${side}" rx="${corner}" fill="#faf7f2"/>${mark}</svg>`;
};

const icons = [
  { name: 'icon-180', size: 180, svg: drawing(6, 0) },
  { name: 'icon-192', size: 192, svg: drawing(6, 10) },
  { name: 'icon-512', size: 512, svg: drawing(6, 10) },
  { name: 'icon-maskable-512', size: 512, svg: drawing(13, 0) },
];

const favicon = { size: 32, svg: drawing(1, 6) };

const browser = await launchBrowser();
const page = await browser.newPage();
for (const { name, size, svg } of icons) await writeFile(fileOf(`${name}.png`), await draw(size, svg));
await writeFile(fileOf('favicon.ico'), icoOf(await draw(favicon.size, favicon.svg), favicon.size));
await browser.close();

async function draw(size: number, svg: string): Promise<Buffer> {
  await page.setViewportSize({ width: size, height: size });
  await page.setContent(`<style>*{margin:0}svg{display:block;width:100vw}</style>${svg}`);
  return page.screenshot({ omitBackground: true });
}

function fileOf(name: string): URL {
  return new URL(`../web/public/assets/${name}`, import.meta.url);
}

/** An ICO file with one PNG: a directory of 6 bytes, an entry of 16, and the image. */
function icoOf(png: Buffer, size: number): Buffer {
  const header = Buffer.alloc(22);
  header.writeUInt16LE(1, 2);
  header.writeUInt16LE(1, 4);
  header.writeUInt8(size, 6);
  header.writeUInt8(size, 7);
  header.writeUInt16LE(1, 10);
  header.writeUInt16LE(32, 12);
  header.writeUInt32LE(png.length, 14);
  header.writeUInt32LE(header.length, 18);
  return Buffer.concat([header, png]);
}
