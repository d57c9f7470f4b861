/** A thumbnail of an image, or an icon for the kind of file. */
import { useSignal } from '@preact/signals';
import { Icon, type IconName } from '../../components/icon.tsx';

/** Image types that every browser can show. */
const imageTypes = /^image\/(png|jpeg|gif|webp|avif|bmp)$/;

const icons: readonly (readonly [IconName, RegExp])[] = [
  ['image', /^image\/|\.(heic|heif|tiff?|psd)$/i],
  ['video', /^video\/|\.(mkv|mov|mp4|avi)$/i],
  ['audio', /^audio\/|\.(mp3|m4a|flac|wav|ogg)$/i],
  ['archive', /[/+-](zip|gzip|x-tar)$|\.(zip|gz|tgz|xz|7z|rar|tar)$/i],
  ['document', /^text\/|\/pdf$|\.(pdf|docx?|xlsx?|pptx?|od[tsp]|txt|md|csv)$/i],
];

export function Thumbnail({ url, name, type }: { url: string; name: string; type: string }) {
  const isBroken = useSignal(false);
  if (url === '' || !imageTypes.test(type) || isBroken.value) {
    return (
      <span class="thumbnail">
        <Icon name={iconOf(name, type)} />
      </span>
    );
  }
  return (
    <img
      class="thumbnail"
      src={url}
      alt=""
      loading="lazy"
      decoding="async"
      onError={() => {
        isBroken.value = true;
      }}
    />
  );
}

function iconOf(name: string, type: string): IconName {
  return icons.find(([, pattern]) => pattern.test(type) || pattern.test(name))?.[0] ?? 'file';
}

/** The file type for people: the extension, or else the declared content type. */
export function kindOf(name: string, type: string): string {
  const extension = /\.([A-Za-z0-9]{1,8})$/.exec(name)?.[1];
  const declared = type === 'application/octet-stream' ? '' : type.replace(/^.*\//, '');
  return (extension ?? declared).toUpperCase();
}
