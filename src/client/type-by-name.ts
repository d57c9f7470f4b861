/** The media types of common files by the extension of their name. */

/** Each type with its extensions. */
const types = `text/plain txt log ini conf
text/markdown md markdown
text/html html htm
text/css css
text/csv csv
text/calendar ics
text/vcard vcf
text/javascript js mjs
application/json json map
application/xml xml
application/yaml yaml yml
application/pdf pdf
application/rtf rtf
application/epub+zip epub
application/zip zip
application/gzip gz tgz
application/x-tar tar
application/x-7z-compressed 7z
application/vnd.rar rar
application/x-bzip2 bz2
application/wasm wasm
application/sql sql
application/msword doc
application/vnd.ms-excel xls
application/vnd.ms-powerpoint ppt
application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
application/vnd.oasis.opendocument.text odt
application/vnd.oasis.opendocument.spreadsheet ods
application/vnd.oasis.opendocument.presentation odp
application/vnd.android.package-archive apk
image/png png
image/jpeg jpg jpeg
image/gif gif
image/webp webp
image/avif avif
image/heic heic
image/heif heif
image/svg+xml svg
image/bmp bmp
image/tiff tif tiff
image/vnd.microsoft.icon ico
audio/mpeg mp3
audio/mp4 m4a
audio/aac aac
audio/ogg oga ogg opus
audio/flac flac
audio/wav wav
audio/midi mid midi
video/mp4 mp4 m4v
video/webm webm
video/quicktime mov
video/x-matroska mkv
video/x-msvideo avi
video/mpeg mpg mpeg
video/ogg ogv
font/ttf ttf
font/otf otf
font/woff woff
font/woff2 woff2`;

let byExtension: ReadonlyMap<string, string> | undefined;

/** `application/octet-stream` if the name has no known extension. */
export function typeByName(name: string): string {
  byExtension ??= new Map(types.split('\n').flatMap(entriesOf));
  const [, extension = ''] = /\.([^.]+)$/.exec(name) ?? [];
  return byExtension.get(extension.toLowerCase()) ?? 'application/octet-stream';
}

function entriesOf(line: string): [extension: string, type: string][] {
  const [type = '', ...extensions] = line.split(' ');
  return extensions.map((extension) => [extension, type]);
}
