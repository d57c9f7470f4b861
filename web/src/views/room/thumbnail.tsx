/** A thumbnail of an image, or an icon for other files. */
import { useSignal } from '@preact/signals';
import { Icon } from '../../components/icon.tsx';

/** Image types that every browser can show. */
const imageTypes = /^image\/(png|jpeg|gif|webp|avif|bmp)$/;

export function Thumbnail({ url, type }: { url: string; type: string }) {
  const isBroken = useSignal(false);
  if (url === '' || !imageTypes.test(type) || isBroken.value) {
    return (
      <span class="thumbnail">
        <Icon name="file" />
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

/** The file type for people: the extension, or else the declared content type. */
export function kindOf(name: string, type: string): string {
  const extension = /\.([A-Za-z0-9]{1,8})$/.exec(name)?.[1];
  const declared = type === 'application/octet-stream' ? '' : type.replace(/^.*\//, '');
  return (extension ?? declared).toUpperCase();
}
