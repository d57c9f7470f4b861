/** Says that something shared from another app still waits for a room. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { go } from '../../address.ts';
import { Icon } from '../../parts/icon.tsx';
import { shareCache } from '../../share/share-cache.ts';
import { t } from '../../words/index.ts';

export function PendingShare() {
  const waits = useSignal(false);
  useEffect(() => {
    if (!('caches' in window)) return;
    void caches.has(shareCache).then((has) => {
      waits.value = has;
    });
  }, []);
  if (!waits.value) return null;
  return (
    <p class="alert" role="status">
      <Icon name="share" />
      <span>{t('sharePending')}</span>
      <button type="button" class="button" onClick={() => go('/share')}>
        {t('chooseRoom')}
      </button>
    </p>
  );
}
