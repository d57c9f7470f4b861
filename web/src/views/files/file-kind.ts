/** The kind of a file, by its type and its name: its icon, and how the viewer shows it. */
import type { FileEntry } from '../../../../src/protocol/types.ts';

export type Preview = 'text' | 'image' | 'video' | 'audio' | 'pdf';
type Kind = Preview | 'archive' | 'document' | 'file';

/** Types that every browser can show, apart from text. */
const shownTypes = /^image\/(png|jpeg|gif|webp|avif|bmp)$|^(audio|video)\/|\/pdf$/;

/** In this order: browsers take a .ts file for a video. */
const kinds: readonly (readonly [Kind, RegExp])[] = [
  [
    'text',
    /^text\/|\/(json|xml|yaml|toml|javascript|sql|x-sh)$|\.(txt|md|log|csv|jsonl?|ya?ml|toml|ini|conf|xml|html?|s?css|[cm]?[jt]sx?|py|rb|php|java|kt|go|rs|swift|cs?|h|[ch]pp|sh|sql|diff|patch)$/i,
  ],
  ['image', /^image\/|\.(heic|heif|tiff?|psd)$/i],
  ['video', /^video\/|\.(mkv|mov|mp4|avi)$/i],
  ['audio', /^audio\/|\.(mp3|m4a|flac|wav|ogg)$/i],
  ['pdf', /[/.]pdf$/i],
  ['archive', /[/+-](zip|gzip|x-tar)$|\.(zip|gz|tgz|xz|7z|rar|tar)$/i],
  ['document', /\.(docx?|xlsx?|pptx?|od[tsp])$/i],
];

const find = (name: string, type: string) =>
  kinds.find(([, pattern]) => pattern.test(type) || pattern.test(name))?.[0] ?? 'file';

export function iconOf(name: string, type: string): Exclude<Kind, 'text' | 'pdf'> {
  const kind = find(name, type);
  return kind === 'text' || kind === 'pdf' ? 'document' : kind;
}

export const isImage = (type: string): boolean => shownTypes.test(type) && type.startsWith('image');

/**
 * How the viewer shows a file, if it can. A preview of a one-time file would use it up. A decrypted PDF would be a
 * document of this origin, so it is only saved.
 */
export function previewOf({ fileName, contentType, once, meta }: FileEntry): Preview | undefined {
  const kind = find(fileName, contentType) as Preview;
  if (once || (kind === 'pdf' && (meta !== undefined || !navigator.pdfViewerEnabled))) return undefined;
  return kind === 'text' || shownTypes.test(contentType) ? kind : undefined;
}

export const isViewable = (file: FileEntry): boolean => previewOf(file) !== undefined;

/** The file type for people: the extension, or else the declared content type. */
export function kindOf(name: string, type: string): string {
  const extension = /\.([A-Za-z0-9]{1,8})$/.exec(name)?.[1];
  const declared = type === 'application/octet-stream' ? '' : type.replace(/^.*\//, '');
  return (extension ?? declared).toUpperCase();
}
