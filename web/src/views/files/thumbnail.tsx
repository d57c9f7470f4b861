/** A thumbnail of an image, or an icon for the kind of file. */
import { useSignal } from '@preact/signals';
import { MoreIcon } from '../../components/more-icon.tsx';
import { iconOf, isImage } from './file-kind.ts';

export function Thumbnail({ url, name, type }: { url: string; name: string; type: string }) {
  const isBroken = useSignal(false);
  if (url === '' || !isImage(type) || isBroken.value) {
    return (
      <span class="thumbnail">
        <MoreIcon name={iconOf(name, type)} />
      </span>
    );
  }
  return (
    <img class="thumbnail" src={url} alt="" loading="lazy" decoding="async" onError={() => (isBroken.value = true)} />
  );
}
