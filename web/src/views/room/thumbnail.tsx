/** A file at a glance. */
import { useSignal } from '@preact/signals';
import { Icon } from '../../components/icon.tsx';

/** Those that every browser draws. */
const drawn = /^image\/(png|jpeg|gif|webp|avif|bmp)$/;

export function Thumbnail({ url, type }: { url: string; type: string }) {
  const broken = useSignal(false);
  if (url === '' || !drawn.test(type) || broken.value) {
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
        broken.value = true;
      }}
    />
  );
}

/** What people call its type: the ending of its name, or else what the browser said it is, if it said anything. */
export function kindOf(name: string, type: string): string {
  const ending = /\.([A-Za-z0-9]{1,8})$/.exec(name)?.[1];
  const declared = type === 'application/octet-stream' ? '' : type.replace(/^.*\//, '');
  return (ending ?? declared).toUpperCase();
}
